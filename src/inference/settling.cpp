#include "inference/settling.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "core/numerics/dense.hpp"
#include "core/numerics/kernels.hpp"

namespace starling {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t least_blocks = 16;
constexpr std::size_t least_blocks_each = 4;  ///< per coordinate
constexpr std::size_t drift_blocks = 32;      ///< blocks that a standard error is taken from, at least where there are

/// Bounds for 2^k coordinates, k = 0, …, 8. Each is exceeded by 2.5 % of the paths that make 100 effective steps in
/// every direction, in the worst case over the lengths of paths (tests/benchmark/settling.py).
using Bounds = std::array<double, 9>;
constexpr Bounds least_effective{45, 39, 34, 27, 21, 13, 7, 4, 3};
constexpr Bounds most_drifts{3.9, 4.4, 4.9, 5.3, 5.8, 6.2, 6.8, 7.3, 7.8};

/// Of these bounds, where noise is taken back: found by trying (jobs/intervals.py --tuning auto).
constexpr double drift_with_chains = 0.65;

/// The bound for d coordinates: linear in log d between those of the table, and the last of them beyond.
double bound_for(const Bounds& table, Index d) {
  const double place = std::min(std::log2(static_cast<double>(d)), static_cast<double>(table.size() - 1));
  const auto below = std::min(static_cast<std::size_t>(place), table.size() - 2);
  return table[below] + (place - static_cast<double>(below)) * (table[below + 1] - table[below]);
}

/// Half the mean squared difference of adjacent block means over their variance, for an Ornstein-Uhlenbeck process that
/// is relaxed by a factor of exp(−b) in a block. It rises from 0 to 1 with b.
double ratio_of_adjacent(double b) {
  const double forgotten = -std::expm1(-b);
  const double variance = 1 - forgotten / b;
  return (variance - forgotten * forgotten / (2 * b)) / variance;
}

/// The b with this ratio, between 1e-4 and 50.
double relaxations_with(double ratio) {
  double low = std::log(1e-4);
  double high = std::log(50.0);
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (ratio_of_adjacent(std::exp(middle)) < ratio ? low : high) = middle;
  }
  return std::exp((low + high) / 2);
}

/// Means of runs of `length` blocks from block `first` on; a row each.
MatrixXd rows_of(const PathBlocks& path, std::size_t first, std::size_t length) {
  const auto d = static_cast<Index>(path.dimension());
  const std::size_t count = (path.count() - first) / length;
  MatrixXd rows = MatrixXd::Zero(static_cast<Index>(count), d);
  for (std::size_t k = 0; k < count * length; ++k) {
    rows.row(static_cast<Index>(k / length)) += Eigen::Map<const VectorXd>(path.mean(first + k).data(), d).transpose();
  }
  return rows / static_cast<double>(length);
}

MatrixXd differences(const MatrixXd& rows) {
  return rows.bottomRows(rows.rows() - 1) - rows.topRows(rows.rows() - 1);
}

VectorXd mean_of(const PathBlocks& path, std::size_t first, std::size_t count) {
  return rows_of(path, first, 1).topRows(static_cast<Index>(count)).colwise().mean();
}

/// Coordinates that move.
std::vector<Index> moving(const MatrixXd& centred) {
  std::vector<Index> moving;
  for (Index j = 0; j < centred.cols(); ++j) {
    if (centred.col(j).squaredNorm() > 0) moving.push_back(j);
  }
  return moving;
}

/// The slowest direction has the least ratio of adjacent differences to variance. The first quarter of the path, in
/// which it leaves its start, does not count.
void find_slowest(const PathBlocks& path, Settling& result) {
  const MatrixXd rows = rows_of(path, path.count() / 4, 1);
  MatrixXd centred = rows.rowwise() - rows.colwise().mean();
  const std::vector<Index> kept = moving(centred);
  centred = centred(Eigen::all, kept).eval();
  const VectorXd units = centred.colwise().norm().cwiseInverse() * std::sqrt(static_cast<double>(rows.rows()));
  centred *= units.asDiagonal();
  const MatrixXd steps = differences(centred);
  MatrixXd variance = dense::product(centred.transpose(), centred) / static_cast<double>(rows.rows());
  variance.diagonal().array() += 1e-12;  // of collinear coordinates
  const MatrixXd adjacent = dense::product(steps.transpose(), steps) / (2 * static_cast<double>(steps.rows()));
  const dense::SymmetricEigen eigen = dense::symmetric_eigen(adjacent, variance);
  result.effective_steps = relaxations_with(eigen.values[0]) * static_cast<double>(path.count());
  Index largest = 0;
  eigen.vectors.col(0).cwiseAbs().maxCoeff(&largest);
  result.slowest = static_cast<std::size_t>(kept[static_cast<std::size_t>(largest)]);
}

/// The standard error comes from differences of adjacent blocks, which a slow drift hardly enters.
void find_drift(const PathBlocks& path, Settling& result) {
  const std::size_t quarter = path.count() / 4;
  const std::size_t length = std::max<std::size_t>(1, path.count() / drift_blocks);
  const MatrixXd steps = differences(rows_of(path, quarter, length));
  const VectorXd variances =
      steps.colwise().squaredNorm() * (static_cast<double>(length) / (2 * static_cast<double>(steps.rows())));
  const VectorXd difference = mean_of(path, path.count() - quarter, quarter) - mean_of(path, quarter, quarter);
  for (Index j = 0; j < difference.size(); ++j) {
    if (!(variances[j] > 0)) continue;
    const double drift = std::abs(difference[j]) / std::sqrt(2 * variances[j] / static_cast<double>(quarter));
    if (drift <= result.drift) continue;
    result.drift = drift;
    result.drifting = static_cast<std::size_t>(j);
  }
}

}  // namespace

void PathBlocks::add(View theta) {
  axpy(1, theta, block_);
  if (++in_block_ < length_) return;
  for (const double sum : block_) means_.push_back(sum / static_cast<double>(length_));
  block_.assign(block_.size(), 0.0);
  in_block_ = 0;
  if (count() == most()) merge_pairs();
}

void PathBlocks::merge_pairs() {
  const std::size_t d = block_.size();
  const std::size_t half = count() / 2;
  for (std::size_t k = 0; k < half; ++k) {
    for (std::size_t j = 0; j < d; ++j) {
      means_[k * d + j] = (means_[2 * k * d + j] + means_[(2 * k + 1) * d + j]) / 2;
    }
  }
  means_.resize(half * d);
  length_ *= 2;
}

std::optional<Settling> settling_of(const PathBlocks& path, bool noise_is_taken_back) {
  const std::size_t d = path.dimension();
  if (path.count() < std::max(least_blocks, least_blocks_each * d)) return std::nullopt;
  const MatrixXd rows = rows_of(path, path.count() / 4, 1);
  if (!rows.allFinite() || moving(rows.rowwise() - rows.colwise().mean()).empty()) return std::nullopt;
  Settling result;
  result.least_effective_steps = bound_for(least_effective, static_cast<Index>(d));
  result.most_drift = bound_for(most_drifts, static_cast<Index>(d)) * (noise_is_taken_back ? drift_with_chains : 1);
  find_slowest(path, result);
  find_drift(path, result);
  return result;
}

}  // namespace starling
