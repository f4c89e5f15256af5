#include "starling/model/gradient_sum.hpp"

#include "layer_arithmetic.hpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "starling/core/check.hpp"

namespace starling {

namespace {

/// What a network of floats can be clipped to; grids have a limit of their own (privacy/grid.hpp).
constexpr double least_clip_of_floats = 1e-10;

template <class T>
constexpr double unit_roundoff = std::numeric_limits<T>::epsilon() / 2;

}  // namespace

template <class T>
void GradientSum<T>::check_clip(const Clip& clip) {
  check(std::is_same_v<T, double> || clip.kind == ClipKind::none || clip.kind == ClipKind::component ||
            clip.bound >= least_clip_of_floats,
        "clip={} for a network of floats (below {} they may lose too much to underflow) use --precision double",
        clip.bound, least_clip_of_floats);
}

template <class T>
double GradientSum<T>::clip_margin() const {
  constexpr double u = unit_roundoff<T>;
  constexpr auto c = static_cast<double>(chunk_records);
  return c * (c + 3) * u / (1 - (c + 3) * u) + 2 * (static_cast<double>(network_.dimension()) + 64) * 0x1p-53 + 0x1p-29;
}

template <class T>
void GradientSum<T>::add(const Clip& clip, std::size_t count, Vector& gradient) {
  if (clip.kind == ClipKind::component) {
    add_component_clipped(clip.bound, count, gradient);
    return;
  }
  if (clip.kind == ClipKind::none) {
    network_.gradient(sum_);
  } else {
    set_factors(clip, count);
    network_.weighted_gradient(factors_, sum_);
  }
  add_sum(gradient);
}

template <class T>
void GradientSum<T>::set_factors(const Clip& clip, std::size_t count) {
  const double bound = clip.bound * (1 - clip_margin());
  factors_.resize(count);
  network_.record_norms(clip.kind == ClipKind::l1 ? Norm::l1 : Norm::l2, factors_);
  for (double& factor : factors_) {
    if (!(factor <= largest_norm<T>)) refuse();
    factor = factor > bound ? bound / factor : 1;
  }
}

template <class T>
void GradientSum<T>::add_sum(Vector& gradient) {
  bool finite = true;
  for (std::size_t j = 0; j < sum_.size(); ++j) {
    finite &= std::abs(sum_[j]) <= std::numeric_limits<T>::max();
    gradient[j] += static_cast<double>(sum_[j]);
  }
  if (!finite) refuse();
}

template <class T>
void GradientSum<T>::add_component_clipped(double bound, std::size_t count, Vector& gradient) {
  for (std::size_t i = 0; i < count; ++i) {
    network_.record_gradient(i, sum_);
    bool finite = true;
    for (std::size_t j = 0; j < sum_.size(); ++j) {
      finite &= std::abs(sum_[j]) <= std::numeric_limits<T>::max();
      gradient[j] += std::clamp(static_cast<double>(sum_[j]), -bound, bound);
    }
    if (!finite) refuse();
  }
}

template <class T>
void GradientSum<T>::refuse() const {
  const std::string layer = network_.first_not_finite(sum_);
  check<DataError>(layer.empty(),
                   "the gradient of {} is not finite (steps are too long, or features too large) use a smaller --step, "
                   "or scale the features",
                   layer);
  throw DataError(fmt::format(
      "a record's gradient has a norm above {} or a layer's inputs do (too large to be clipped exactly) scale the "
      "features, or use a smaller --step",
      largest_norm<T>));
}

template class GradientSum<float>;
template class GradientSum<double>;

}  // namespace starling
