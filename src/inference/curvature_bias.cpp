#include "inference/curvature_bias.hpp"

#include <cmath>

#include "core/check.hpp"
#include "core/numerics/dense.hpp"
#include "core/numerics/gram.hpp"
#include "core/numerics/kernels.hpp"

namespace starling {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

VectorXd copied(View x) {
  return Eigen::Map<const VectorXd>(x.data(), static_cast<Index>(x.size()));
}

/// The inverse; none unless every eigenvalue exceeds those of noise of this standard deviation, or of rounding.
std::optional<MatrixXd> sound_inverse(const MatrixXd& matrix, double noise) {
  if (!matrix.allFinite() || !(matrix.diagonal().minCoeff() > 0)) return std::nullopt;
  if (noise > 0) {
    const VectorXd values = dense::symmetric_eigenvalues(matrix);
    if (!(values[0] > 2 * noise * std::sqrt(static_cast<double>(matrix.rows())))) return std::nullopt;
    return dense::inverse(matrix);
  }
  const VectorXd units = matrix.diagonal().cwiseSqrt().cwiseInverse();
  const MatrixXd scaled = units.asDiagonal() * matrix * units.asDiagonal();
  const VectorXd values = dense::symmetric_eigenvalues(scaled);
  if (!(values[0] > 1e-10)) return std::nullopt;
  return units.asDiagonal() * dense::inverse(scaled) * units.asDiagonal();
}

}  // namespace

CurvatureBias::CurvatureBias(std::size_t dimension, double noise)
    : noise_(noise), apart_(dimension), sum_(dimension), triangle_(triangle_size(dimension)), products_(dimension) {}

void CurvatureBias::add(View curvature, View theta) {
  if (count_ == 0) origin_.assign(theta.begin(), theta.end());
  ++count_;
  const std::size_t d = sum_.size();
  for (std::size_t j = 0; j < d; ++j) {
    apart_[j] = theta[j] - origin_[j];
    sum_[j] += apart_[j];
    squares_ += apart_[j] * apart_[j];
  }
  std::size_t at = 0;
  for (std::size_t j = 0; j < d; ++j) {
    triangle_[at] += curvature[at];
    products_[j] += curvature[at++] * apart_[j];
    for (std::size_t k = j + 1; k < d; ++k, ++at) {
      triangle_[at] += curvature[at];
      products_[j] += curvature[at] * apart_[k];
      products_[k] += curvature[at] * apart_[j];
    }
  }
}

Vector CurvatureBias::curvature() const {
  Vector mean = triangle_;
  scale(1 / static_cast<double>(count_), mean);
  return mean;
}

std::optional<BiasEstimate> CurvatureBias::estimate() const {
  if (count_ == 0) return std::nullopt;
  const double n = static_cast<double>(count_);
  const auto order = static_cast<Index>(sum_.size());
  const MatrixXd mean = dense::symmetric(curvature(), sum_.size());
  const std::optional<MatrixXd> inverse = sound_inverse(mean, noise_ / std::sqrt(n));
  if (!inverse) return std::nullopt;
  const VectorXd centre = copied(sum_) / n;
  const VectorXd bias = -0.5 * *inverse * (copied(products_) / n - mean * centre);
  // An entry of (1/n) Σ N_i (θ_{i−1} − θ̄) has variance noise² tr V / n, V the path's covariance.
  const double wander = std::max(0.0, squares_ / n - centre.squaredNorm());
  const double noise = 0.5 * noise_ * std::sqrt(wander / n);
  BiasEstimate result;
  for (Index j = 0; j < order; ++j) {
    result.bias.push_back(bias[j]);
    result.noise.push_back(noise * inverse->row(j).norm());
  }
  return result;
}

Spread less_bias(const Spread& spread, const BiasEstimate& bias, double share) {
  Spread result = spread;
  for (std::size_t j = 0; j < result.estimate.size(); ++j) {
    result.estimate[j] -= bias.bias[j];
    result.spread[j] = std::sqrt(spread.spread[j] * spread.spread[j] + share * bias.noise[j] * bias.noise[j]);
  }
  return result;
}

std::optional<std::string> curvature_bias_warning(const BiasEstimate& bias, const Spread& spread, double quantile,
                                                  const std::vector<std::string>& names) {
  std::size_t worst = 0;
  double most = 0.25;
  std::size_t count = 0;
  for (std::size_t j = 0; j < names.size(); ++j) {
    const double ratio = std::abs(bias.bias[j]) / (quantile * spread.spread[j]);
    if (!(ratio > 0.25) || std::abs(bias.bias[j]) <= 2 * bias.noise[j]) continue;
    ++count;
    if (ratio > most) {
      most = ratio;
      worst = j;
    }
  }
  if (count == 0) return std::nullopt;
  const std::string others = count > 1 ? fmt::format("; {} more likewise", count - 1) : "";
  return fmt::format(
      "estimated curvature bias of '{}' {:.3g} exceeds a quarter of its half-width {:.3g}{} (noise moves the models "
      "about where the loss is curved, so that intervals cover too little) take more records per client and step, or "
      "more clients",
      names[worst], bias.bias[worst], quantile * spread.spread[worst], others);
}

}  // namespace starling
