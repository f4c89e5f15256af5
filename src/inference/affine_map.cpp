#include "inference/affine_map.hpp"

#include <cmath>
#include <limits>

#include "core/numerics/gram.hpp"
#include "core/numerics/kernels.hpp"

namespace starling {

void AffineMap::apply(View theta, MutableView image) const {
  for (std::size_t j = 0; j < offset_.size(); ++j) image[j] = offset_[j] + dot(rows_[j], theta);
}

Vector AffineMap::linear(View theta) const {
  Vector image(offset_.size());
  for (std::size_t j = 0; j < image.size(); ++j) image[j] = dot(rows_[j], theta);
  return image;
}

Vector AffineMap::deviation_bounds(View deviations) const {
  Vector bounds(offset_.size());
  for (std::size_t j = 0; j < bounds.size(); ++j) {
    for (std::size_t k = 0; k < bounds.size(); ++k) {
      if (rows_[j][k] != 0) bounds[j] += std::abs(rows_[j][k]) * deviations[k];
    }
  }
  return bounds;
}

Vector AffineMap::deviations(View covariance, View deviations) const {
  const std::size_t d = offset_.size();
  Vector result(d);
  for (std::size_t j = 0; j < d; ++j) {
    const View row = rows_[j];
    double variance = 0;
    for (std::size_t k = 0; k < d; ++k) {
      if (row[k] == 0) continue;
      if (std::isinf(deviations[k])) variance = std::numeric_limits<double>::infinity();
      for (std::size_t l = 0; l < d; ++l) {
        variance += row[k] * row[l] * covariance[triangle_at(std::min(k, l), std::max(k, l), d)];
      }
    }
    result[j] = std::sqrt(std::max(0.0, variance));
  }
  return result;
}

}  // namespace starling
