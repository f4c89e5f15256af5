/// Means of vectors that are accurate for any number of vectors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/columns.hpp"

namespace starling {

/// The mean of vectors, by sums with running corrections (Neumaier 1974).
///
/// Error. Let n vectors x_i be added and let u = 2^-53. A corrected sum of n terms errs by at most u |Σ x_ij| +
/// γ_{n−1}² Σ |x_ij| (Ogita, Rump and Oishi 2005, theorem 4.3 and proposition 4.5), and the division by n adds one
/// rounding. With n <= 2^25, γ_{n−1}² is below u/8. So component j of the result errs by at most 3 u (1/n) Σ |x_ij|,
/// and the result by at most 3 u · (1/n) Σ ‖x_i‖ in any of the norms L1 and L2. Vectors after the first 2^25 are left
/// out, so that this holds for any number.
class ContributionMean {
 public:
  /// Starts a mean of vectors of this length.
  void begin(std::size_t size) {
    count_ = 0;
    sum_.assign(size, 0.0);
    correction_.assign(size, 0.0);
  }

  void add(View terms) {
    if (count_ == most) return;
    ++count_;
    for (std::size_t j = 0; j < sum_.size(); ++j) {
      const double total = sum_[j] + terms[j];
      correction_[j] += std::abs(sum_[j]) >= std::abs(terms[j]) ? (sum_[j] - total) + terms[j]  // what was rounded off
                                                                : (terms[j] - total) + sum_[j];
      sum_[j] = total;
    }
  }

  /// Number of vectors in the mean.
  [[nodiscard]] std::int64_t count() const { return count_; }

  /// The mean; zeros without vectors. Valid until the next call.
  [[nodiscard]] View mean() {
    const auto n = static_cast<double>(std::max<std::int64_t>(count_, 1));
    mean_.resize(sum_.size());
    for (std::size_t j = 0; j < sum_.size(); ++j) mean_[j] = (sum_[j] + correction_[j]) / n;
    return mean_;
  }

 private:
  static constexpr std::int64_t most = std::int64_t{1} << 25;

  std::int64_t count_ = 0;
  Vector sum_;
  Vector correction_;
  Vector mean_;
};

}  // namespace starling
