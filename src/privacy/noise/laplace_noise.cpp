#include <algorithm>
#include <cmath>

#include "core/memory/wipe.hpp"
#include "laplace_draws.hpp"

namespace starling {

namespace {

/// Buffer whose used part is wiped on destruction.
struct Draws {
  explicit Draws(std::size_t draws)
      : used(std::min(words.size(),
                      (draws + laplace_draws::lanes - 1) / laplace_draws::lanes * laplace_draws::group_words)) {}
  ~Draws() {
    wipe(words.data(), used * sizeof(std::uint64_t));
    if (spare_used) wipe(spare);
  }
  Draws(const Draws&) = delete;
  Draws& operator=(const Draws&) = delete;

  std::array<std::uint64_t, laplace_draws::group_words * laplace_draws::block_groups> words;
  std::array<std::uint64_t, laplace_draws::spare_words> spare;
  std::size_t used;
  bool spare_used = true;
};

}  // namespace

void add_discrete_laplace(Keystream& words, std::span<std::int64_t> integers) {
  Draws block(integers.size());
  laplace_draws::Reserve<Keystream> reserve(words, block.spare);
  laplace_draws::add_draws(words, reserve, integers, block.words);
  block.spare_used = reserve.touched();
}

double floating_laplace(Keystream& words, double scale) {
  const std::uint64_t word = words();
  const double uniform = static_cast<double>((word >> 11) + 1) * 0x1.0p-53;  // on (0, 1]
  const double magnitude = -scale * std::log(uniform);
  return (word & 1) != 0 ? -magnitude : magnitude;
}

}  // namespace starling
