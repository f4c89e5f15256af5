#include "inference/overlapping_batches.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.hpp"

namespace starling {

namespace {

constexpr std::int64_t most_batches_without = 8;

}  // namespace

OverlappingBatches::OverlappingBatches(std::size_t dimension, double alpha)
    : power_(2 / (1 - alpha)), mean_(dimension), sum_(dimension), squares_(dimension), cross_(dimension) {
  check(alpha > 0 && alpha < 1, "step power {}: batches are made for steps i^-a with 0 < a < 1. Choose another.",
        alpha);
}

std::int64_t OverlappingBatches::begin_of(std::int64_t batch) const {
  const double begin = std::floor(std::pow(static_cast<double>(batch), power_));
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  return begin < 9e18 ? static_cast<std::int64_t>(begin) : never;
}

void OverlappingBatches::add(View theta, double mass) {
  if (count_ == 0) origin_.assign(theta.begin(), theta.end());
  if (++count_ == next_) {
    next_ = begin_of(++batch_ + 1);
    batch_mass_ = 0;
    std::fill(sum_.begin(), sum_.end(), 0.0);
  }
  mass_ += mass;
  batch_mass_ += mass;
  masses_ += batch_mass_;
  squared_masses_ += batch_mass_ * batch_mass_;
  const double share = mass_ > 0 ? mass / mass_ : 0;
  for (std::size_t j = 0; j < mean_.size(); ++j) {
    const double apart = theta[j] - origin_[j];
    mean_[j] += share * (apart - mean_[j]);
    sum_[j] += mass * apart;
    squares_[j] += sum_[j] * sum_[j];
    cross_[j] += batch_mass_ * sum_[j];
  }
}

std::optional<Spread> OverlappingBatches::spread() const {
  if (batch_ <= most_batches_without || !(masses_ > 0)) return std::nullopt;
  Spread result{origin_, Vector(mean_.size())};
  for (std::size_t j = 0; j < mean_.size(); ++j) {
    result.estimate[j] += mean_[j];
    const double squares = squares_[j] + mean_[j] * (squared_masses_ * mean_[j] - 2 * cross_[j]);
    result.spread[j] = std::sqrt(std::max(0.0, squares) / masses_ / mass_);
  }
  return result;
}

}  // namespace starling
