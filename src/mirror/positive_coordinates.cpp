#include "mirror/positive_coordinates.hpp"

#include <algorithm>

namespace starling {

namespace {

/// Coordinates that are looked at together: zeros are rare, and a loop without branches finds that there is none.
constexpr std::size_t block = 256;

bool has_zero(View x) {
  int zeros = 0;
  for (const double value : x) zeros |= value == 0 ? 1 : 0;
  return zeros != 0;
}

}  // namespace

void PositiveCoordinates::note_zeros(const Columns& states) {
  if (least_ == 0) return;
  zeros_.clear();
  const View all = states.flat();
  for (std::size_t begin = 0; begin < all.size(); begin += block) {
    const View part = all.subspan(begin, std::min(block, all.size() - begin));
    if (!has_zero(part)) continue;
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i] == 0) zeros_.push_back(begin + i);
    }
  }
}

void PositiveCoordinates::restore(Columns& states) {
  if (least_ == 0) return;
  const MutableView all = states.flat();
  std::erase_if(zeros_, [&](std::size_t place) { return !(all[place] <= 0); });  // neighbours have fed them
  for (double& value : all) value = std::max(value, least_);
  for (const std::size_t place : zeros_) all[place] = 0;
}

}  // namespace starling
