#include "inference/path_intervals.hpp"

#include <cmath>
#include <type_traits>

#include "core/check.hpp"
#include "core/numerics/dense.hpp"
#include "core/numerics/gram.hpp"
#include "core/sized.hpp"

namespace starling {

namespace {

/// The sums of random scaling, and the share of the next model: θ̄, c and D of n models of d numbers.
struct Sums {
  double* mean;
  double* weighted;
  double* squares;
  double share;  ///< w / W_{n+1}
  double half;   ///< Σ_{b≤n} W_b² / 2
};

/// c δ' + δ c' − δδ' ΣW² = a δ' + δ a' with a = c − δ ΣW² / 2. `Size` is a number, or one that the compiler knows.
template <class Size>
inline void move_sums(Sums sums, const double* theta, Size d, double* __restrict step, double* __restrict weighted) {
  for (std::size_t j = 0; j < d; ++j) {
    step[j] = sums.share * (theta[j] - sums.mean[j]);
    weighted[j] = sums.weighted[j] - sums.half * step[j];
    sums.mean[j] += step[j];
    sums.weighted[j] = weighted[j] - sums.half * step[j];
  }
  double* entry = sums.squares;
  for (std::size_t j = 0; j < d; ++j) {
    for (std::size_t k = j; k < d; ++k) *entry++ -= weighted[j] * step[k] + step[j] * weighted[k];
  }
}

}  // namespace

RandomScaling::RandomScaling(std::size_t dimension)
    : mean_(dimension), weighted_(dimension), squares_(triangle_size(dimension)), scratch_(2 * dimension) {}

void RandomScaling::add(View theta, double mass) {
  const std::size_t d = mean_.size();
  ++count_;
  mass_ += mass;
  if (!(mass_ > 0)) {  // no mass has come yet: it stands where the model is
    std::copy(theta.begin(), theta.end(), mean_.begin());
    return;
  }
  const Sums sums{mean_.data(), weighted_.data(), squares_.data(), mass / mass_, 0.5 * squared_masses_};
  sized(d, [&](auto size) {  // three times as fast where it is known, with the same bits
    if constexpr (std::is_same_v<decltype(size), std::size_t>) {
      move_sums(sums, theta.data(), size, scratch_.data(), scratch_.data() + size);
    } else {
      double step[size];
      double weighted[size];
      move_sums(sums, theta.data(), size, step, weighted);
    }
  });
  squared_masses_ += mass_ * mass_;
}

Vector RandomScaling::scaling() const {
  Vector result = squares_;
  for (double& entry : result) entry /= mass_ * mass_;
  return result;
}

Spread RandomScaling::spread() const {
  const double n = static_cast<double>(count_);
  Spread result{mean_, Vector(mean_.size())};
  for (std::size_t j = 0; j < mean_.size(); ++j) {
    // Not negative but for roundings of a path that does not move.
    const double square = std::max(0.0, squares_[triangle_at(j, j, mean_.size())]);
    result.spread[j] = mass_ > 0 ? std::sqrt(square / n) / mass_ : 0;
  }
  return result;
}

std::optional<double> RandomScaling::joint_statistic(const std::vector<std::size_t>& coordinates) const {
  const auto size = static_cast<Eigen::Index>(coordinates.size());
  Eigen::MatrixXd matrix(size, size);
  Eigen::VectorXd mean(size);
  const Vector packed = scaling();
  for (Eigen::Index a = 0; a < size; ++a) {
    const std::size_t j = coordinates[static_cast<std::size_t>(a)];
    mean[a] = mean_[j];
    for (Eigen::Index b = 0; b < size; ++b) {
      const std::size_t k = coordinates[static_cast<std::size_t>(b)];
      matrix(a, b) = packed[triangle_at(std::min(j, k), std::max(j, k), mean_.size())];
    }
  }
  const std::optional<double> form = dense::inverse_form(matrix, mean);
  if (!form) return std::nullopt;
  return static_cast<double>(count_) * *form;
}

namespace {

/// ((k + 1)/(M + 1))^{1/(1−α)}.
double batch_end(int k, int batches, double alpha) {
  return std::pow((k + 1.0) / (batches + 1.0), 1 / (1 - alpha));
}

bool every_batch_has_one(const std::vector<std::int64_t>& ends) {
  std::int64_t before = 0;
  for (const std::int64_t end : ends) {
    if (end <= before) return false;
    before = end;
  }
  return true;
}

std::vector<std::int64_t> batch_ends(int batches, double alpha, std::int64_t n) {
  std::vector<std::int64_t> ends;
  for (int k = 0; k < batches; ++k) ends.push_back(std::llround(batch_end(k, batches, alpha) * static_cast<double>(n)));
  ends.push_back(n);
  return ends;
}

/// "at least 251 steps": batches grow, so the first decides, but for roundings.
std::string steps_needed(int batches, double alpha) {
  const double least = 0.5 / batch_end(0, batches, alpha);
  if (!(least < 1e15)) return fmt::format("about {:.3g} steps", least);
  auto n = std::max<std::int64_t>(batches + 1, static_cast<std::int64_t>(least));
  while (!every_batch_has_one(batch_ends(batches, alpha, n))) ++n;
  return fmt::format("at least {} steps", n);
}

}  // namespace

BatchMeans::BatchMeans(std::size_t dimension, int batches, double alpha, std::int64_t n)
    : mean_(dimension), batch_(dimension), kept_mean_(dimension), squares_(dimension) {
  check(batches >= 2, "batch-means:{}: a variance between batches needs 2 or more. Name more.", batches);
  check(alpha > 0 && alpha < 1, "step power {}: batches are made for steps i^-a with 0 < a < 1. Choose another.",
        alpha);
  ends_ = batch_ends(batches, alpha, n);
  check(
      every_batch_has_one(ends_),
      "batch-means:{} with {} steps: a batch would be empty; {} are needed at step power {}. Take more steps or fewer "
      "batches.",
      batches, n, steps_needed(batches, alpha), alpha);
}

void BatchMeans::add(View theta, double mass) {
  if (count_ == 0) {
    origin_.assign(theta.begin(), theta.end());
    mean_ = origin_;
  }
  ++count_;
  mass_ += mass;
  batch_mass_ += mass;
  const double share = mass_ > 0 ? mass / mass_ : 0;
  for (std::size_t j = 0; j < mean_.size(); ++j) {
    mean_[j] += share * (theta[j] - mean_[j]);
    batch_[j] += mass * (theta[j] - origin_[j]);
  }
  if (whole_ < ends_.size() && count_ == ends_[whole_]) close_batch();
}

void BatchMeans::close_batch() {
  const double size = batch_mass_;
  batch_mass_ = 0;
  if (whole_ > 0 && size > 0) {
    // The weighted mean and the squares about it, one batch more.
    kept_mass_ += size;
    const double share = size / kept_mass_;
    for (std::size_t j = 0; j < batch_.size(); ++j) {
      const double apart = batch_[j] / size - kept_mean_[j];
      kept_mean_[j] += share * apart;
      squares_[j] += size * (1 - share) * apart * apart;
    }
  }
  std::fill(batch_.begin(), batch_.end(), 0.0);
  ++whole_;
}

std::optional<Spread> BatchMeans::spread() const {
  if (whole_ < 3 || !(kept_mass_ > 0)) return std::nullopt;
  const double batches = static_cast<double>(whole_ - 1);
  Spread result{mean_, Vector(mean_.size())};
  for (std::size_t j = 0; j < mean_.size(); ++j) {
    result.spread[j] = std::sqrt(squares_[j] / batches / mass_);
  }
  return result;
}

}  // namespace starling
