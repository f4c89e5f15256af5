#include "model/network/gradient_sum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/check.hpp"
#include "layer_arithmetic.hpp"

namespace starling {

namespace {

/// Least clip bound of a network of floats. Grids have a limit of their own (privacy/noise/grid.hpp).
constexpr double least_clip_of_floats = 1e-10;

template <class T>
constexpr double unit_roundoff = std::numeric_limits<T>::epsilon() / 2;

}  // namespace

template <class T>
void GradientSum<T>::check_clip(const Clip& clip) {
  check(std::is_same_v<T, double> || clip.kind == ClipKind::none || clip.kind == ClipKind::component ||
            clip.bound >= least_clip_of_floats,
        "clip={} for a network of floats: below {} they may lose too much to underflow. Use --precision double.",
        clip.bound, least_clip_of_floats);
}

template <class T>
double GradientSum<T>::clip_margin() const {
  constexpr double u = unit_roundoff<T>;
  constexpr auto c = static_cast<double>(chunk_records);
  return c * (c + 3) * u / (1 - (c + 3) * u) + 2 * (static_cast<double>(network_.dimension()) + 64) * 0x1p-53 + 0x1p-29;
}

template <class T>
void GradientSum<T>::add(const Clip& clip, std::span<char> out, Vector& gradient) {
  if (clip.kind == ClipKind::component) return add_component_clipped(clip.bound, out, gradient);
  bool in_range = std::none_of(out.begin(), out.end(), [](char left) { return left != 0; });
  if (clip.kind == ClipKind::none) {
    network_.gradient(sum_);
    in_range = in_range && sum_is_finite();
  } else if ((in_range = set_factors(clip, out) && in_range)) {
    network_.weighted_gradient(factors_, sum_);
  }
  if (in_range) return add_sum(1, gradient);
  add_one_by_one(clip, out, gradient);
}

/// Whether all records are in range.
template <class T>
bool GradientSum<T>::set_factors(const Clip& clip, std::span<char> out) {
  const bool clips = clip.kind != ClipKind::none;
  const double bound = clips ? clip.bound * (1 - clip_margin()) : std::numeric_limits<double>::infinity();
  factors_.resize(out.size());
  network_.record_norms(clip.kind == ClipKind::l1 ? Norm::l1 : Norm::l2, factors_);
  bool all = true;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const bool in_range = factors_[i] <= largest_norm<T>;
    all = all && in_range;
    if (!in_range) out[i] = 1;
    factors_[i] = factors_[i] > bound ? bound / factors_[i] : 1;
  }
  return all;
}

template <class T>
void GradientSum<T>::add_one_by_one(const Clip& clip, std::span<char> out, Vector& gradient) {
  static_cast<void>(set_factors(clip, out));
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] != 0) continue;
    network_.record_gradient(i, sum_);
    add_sum(factors_[i], gradient);
  }
}

template <class T>
bool GradientSum<T>::sum_is_finite() const {
  bool finite = true;
  for (const T entry : sum_) finite &= std::abs(entry) <= std::numeric_limits<T>::max();
  return finite;
}

template <class T>
void GradientSum<T>::add_sum(double factor, Vector& gradient) const {
  for (std::size_t j = 0; j < sum_.size(); ++j) gradient[j] += factor * static_cast<double>(sum_[j]);
}

template <class T>
void GradientSum<T>::add_component_clipped(double bound, std::span<char> out, Vector& gradient) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] != 0) continue;
    network_.record_gradient(i, sum_);
    if (!sum_is_finite()) {
      out[i] = 1;
      continue;
    }
    for (std::size_t j = 0; j < sum_.size(); ++j) {
      gradient[j] += std::clamp(static_cast<double>(sum_[j]), -bound, bound);
    }
  }
}

template class GradientSum<float>;
template class GradientSum<double>;

}  // namespace starling
