/// Two noisy sums over a client's records, released once after the last round, by which the scores of a finished model
/// are multiplied so that its probabilities are right (docs/methods/learning-rule.md, "Probabilities").
///
/// A record with the score s and the label y, −1 or 1, has t = tanh(s/2), which is the mean of y that s predicts. It
/// adds (y − t) t to the first sum, from −2 to 1/4, whose mean is 0 where probabilities are right. It adds
/// s t (1 − t²)/2 to the second, from 0 to 0.32: what the first loses if all scores grow by a small part, for each such
/// part. In steps of 2^−20 the first fills its range, and the second a quarter of that.
#pragma once

#include <cstdint>

#include "privacy/histograms/noisy_counts.hpp"

namespace starling {

class ScoreSums : public NoisyCounts {
 public:
  [[nodiscard]] static Form form();
  /// Under Gaussian noise at the price `mu`. Range and errors are those of NoisyCounts.
  ScoreSums(double mu, std::int64_t records);

  /// A record's terms in the two sums, before rounding.
  struct Parts {
    double excess = 0;  ///< (y − t) t
    double slope = 0;   ///< s t (1 − t²)/2
  };
  /// 0 for scores that are no number.
  [[nodiscard]] static Parts parts_of(double score, double label);
  /// Adds the means of a record's, or of a person's, parts to `sums`.
  static void add(const Parts& means, Counts& sums);
};

/// The factor of scores that two sums show.
struct ScoreFactor {
  double factor = 1;  ///< from 1/4 to 4
  double error = 0;   ///< standard error of its logarithm as the sums show it, by noise and by the number of records
  bool cut = false;   ///< whether the sums show a factor further from 1: beyond the bounds, or of scores near 0
};

/// `summed` are the sums over `records` >= 1 records, with noise of this deviation on each. The logarithm of the factor
/// is one Newton step, drawn to 0 as if it had a deviation of 0.5 before anything is seen.
[[nodiscard]] ScoreFactor score_factor(View summed, double deviation, std::int64_t records);

/// The deviation of the first sum's noise in the logarithm of the factor, for typical scores: `deviation` is that of
/// the noise on a sum over so many records.
[[nodiscard]] double error_of_score_factor(double deviation, double records);

}  // namespace starling
