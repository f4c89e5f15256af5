#include "protocol/curvature/batch_sandwich.hpp"

#include <algorithm>

#include "core/numerics/gram.hpp"
#include "core/numerics/kernels.hpp"

namespace starling {

namespace {

constexpr std::int64_t least_batches = 10;

}  // namespace

BatchSandwich::BatchSandwich(std::size_t blocks, std::size_t order)
    : blocks_(blocks),
      order_(order),
      curvature_(blocks, order),
      psi_(blocks * order),
      theta_(blocks * order),
      of_psi_(blocks * triangle_size(order)),
      cross_(blocks * order * order),
      of_theta_(blocks * order) {}

void BatchSandwich::add(View psi, View theta, const BlockCurvature& curvature) {
  ++batches_;
  curvature_.add(curvature, 1);
  axpy(1, psi, psi_);
  axpy(1, theta, theta_);
  for (std::size_t k = 0; k < blocks_; ++k) {
    for (std::size_t i = 0; i < order_; ++i) {
      const double value = psi[k * order_ + i];
      for (std::size_t j = i; j < order_; ++j) {
        of_psi_[k * triangle_size(order_) + triangle_at(i, j, order_)] += value * psi[k * order_ + j];
      }
      for (std::size_t j = 0; j < order_; ++j) {
        cross_[(k * order_ + i) * order_ + j] += value * theta[k * order_ + j];
      }
    }
  }
  for (std::size_t i = 0; i < of_theta_.size(); ++i) of_theta_[i] += theta[i] * theta[i];
}

// The terms of θ̂ are θ_b − m A⁻¹ ψ_b: their variance over m is that of θ̂. Sums are taken about their means.
BatchSandwich::Estimate BatchSandwich::estimate(const std::string& where) const {
  check<DataError>(batches_ >= least_batches,
                   "{}: {} batches after the first quarter do not tell how batches differ. Take smaller batches, or at "
                   "least {} of them.",
                   where, batches_, (4 * least_batches + 2) / 3);
  const auto m = static_cast<double>(batches_);
  Vector meat = of_psi_;
  Vector cross = cross_;
  for (std::size_t k = 0; k < blocks_; ++k) {
    for (std::size_t i = 0; i < order_; ++i) {
      const double mean = psi_[k * order_ + i] / m;
      for (std::size_t j = i; j < order_; ++j) {
        meat[k * triangle_size(order_) + triangle_at(i, j, order_)] -= mean * psi_[k * order_ + j];
      }
      for (std::size_t j = 0; j < order_; ++j) cross[(k * order_ + i) * order_ + j] -= mean * theta_[k * order_ + j];
    }
  }
  Estimate estimate;
  estimate.variances = curvature_.sandwich_diagonal(meat, where);
  const Vector both = curvature_.product_diagonal(cross, where);
  for (std::size_t i = 0; i < theta_.size(); ++i) {
    const double of_theta = of_theta_[i] - theta_[i] * theta_[i] / m;
    const double sum = estimate.variances[i] - 2 * both[i] / m + of_theta / (m * m);
    estimate.variances[i] = std::max(0.0, sum) * m / (m - 1);
  }
  estimate.theta = theta_;
  scale(1 / m, estimate.theta);
  axpy(-1, curvature_.solve(psi_, where), estimate.theta);
  return estimate;
}

}  // namespace starling
