/// A noisy histogram of the norms of a client's records, released once before the first round
/// (docs/methods/privacy.md, "The norm of a typical record").
///
/// A bin is [2^k, 2^(k+1)) for k = −20 … 19. A record adds 1 to the bin of its norm; norms of 2^20 or more count in the
/// last bin, positive ones below 2^-20 in the first. Rows of zeros, rows whose norm is not finite and records that are
/// left out add nothing. There are up to three histograms: of L2 norms, of L1 norms under Laplace noise, which clips
/// gradients in L1, and of the magnitudes of labels where these are numbers.
#pragma once

#include <cstdint>
#include <optional>

#include "privacy/histograms/noisy_counts.hpp"

namespace starling {

/// The norms of a row, Euclidean and the sum of magnitudes, and the magnitude of its label.
struct RowNorms {
  double l2 = 0;
  double l1 = 0;
  double label = 0;
};

class NormHistogram : public NoisyCounts {
 public:
  static constexpr std::size_t bins = 40;
  static constexpr int lowest_exponent = -20;

  /// L2 norms, L1 norms under Laplace noise, and the magnitudes of labels if `labels`.
  [[nodiscard]] static Form form_of(ChargeKind noise, bool labels);
  /// As NoisyCounts; `labels` says whether magnitudes of labels are counted.
  NormHistogram(ChargeKind noise, double price, std::int64_t records, bool labels = false);

  [[nodiscard]] bool has_l1() const { return !gaussian(); }

  /// The bin of a norm; none for 0 and for what is not finite.
  [[nodiscard]] static std::optional<std::size_t> bin_of(double norm);
  /// Counts a record. `counts` has length() entries: L2 norms, L1 norms, labels.
  void count(const RowNorms& norms, Counts& counts) const;

 private:
  bool labels_;
};

/// The least count in a sum of histograms that is taken for records: what noise alone exceeds anywhere with a
/// probability of 1 − (1 − P(Z > 3.5))^40 = 0.93 %. Under Gaussian noise it is 3.5 deviations. Under Laplace noise,
/// whose tails are heavier and which has twice as many bins, it is up to 5.9: 5.9 for one client, 4.4 for five
/// alike, 3.9 for twenty. A histogram of labels, with 40 bins of its own, adds as much again, or half as much.
/// `variances` are those of the noise on one client's counts each; without any it is 0.
[[nodiscard]] double least_count(ChargeKind noise, View variances);

/// The norm of a typical record by one histogram, summed over clients: the lower end of the median bin, since a rule
/// errs less by a norm that is too low. Bins below `least` count as empty. None if all are, or if even a bin with all
/// `records` would count as empty.
[[nodiscard]] std::optional<double> typical_norm(View summed, double least, std::int64_t records);

/// Whether typical_norm() may have taken noise for records: no bin has 10/7 times `least`, under Gaussian noise 5
/// deviations, and all that count together hold less than half of the records.
[[nodiscard]] bool may_be_noise(View summed, double least, std::int64_t records);

/// The size of a typical label likewise: the upper end of the median bin, since the median of magnitudes is below their
/// root mean square. Many labels may be zero, which no bin counts, and a bin of noise alone would make a model as large
/// as it says. So bins below 10/7 times `least` count as empty: under Gaussian noise 5 deviations.
[[nodiscard]] std::optional<double> typical_label(View summed, double least, std::int64_t records);

}  // namespace starling
