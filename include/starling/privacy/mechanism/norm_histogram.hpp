/// A noisy histogram of the norms of a client's records, released once before the first round
/// (docs/methods/privacy.md, "The norm of a typical record").
///
/// A bin is [2^k, 2^(k+1)) for k = −20 … 19. A record adds 1 to the bin of its norm; norms of 2^20 or more count in the
/// last bin, positive ones below 2^-20 in the first. Rows of zeros, rows whose norm is not finite and records that are
/// left out add nothing. There are H histograms: of L2 norms, of L1 norms under Laplace noise, which clips gradients in
/// L1, and of the magnitudes of labels where these are numbers. One replaced record moves two counts of each by 1 each
/// at most: together √(2H) in L2, 2H in L1.
///
/// Gaussian noise: counts times 2^20 are integers that move by √(2H)·2^20 in L2, to which a correctly rounded Gaussian
/// of σ = √(2H)·2^20/μ is added. That is post-processing of the continuous mechanism, so it costs exactly μ
/// (gaussian.cpp).
///
/// Laplace noise: discrete Laplace noise has the scale t = 2^40 in integers. Counts times the integer s = ⌊ε·2^40/2H⌋
/// move by 2H s, so that the loss is 2H s/t <= ε, exactly. (Where so many records would not fit into 64 bits, s is
/// smaller, and the loss with it.)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "starling/core/boundary.hpp"
#include "starling/privacy/charge.hpp"
#include "starling/privacy/keys/keystream.hpp"
#include "starling/privacy/mechanism.hpp"
#include "starling/privacy/noise/gaussian_noise.hpp"

namespace starling {

/// The norms of a row, Euclidean and the sum of magnitudes, and the magnitude of its label.
struct RowNorms {
  double l2 = 0;
  double l1 = 0;
  double label = 0;
};

/// Counts of one client's records by norm. One histogram after the other, of L2 norms, L1 norms and labels.
using NormCounts = std::vector<std::int64_t>;

class NormHistogram : private Release {
 public:
  static constexpr std::size_t bins = 40;
  static constexpr int lowest_exponent = -20;
  /// The most records of a client.
  static constexpr std::int64_t most_records = std::int64_t{1} << 40;

  /// `noise` is gaussian or laplace; `price` is the μ or ε of the release; `records` is the public number of records of
  /// the client, 0 to most_records; `labels` says whether magnitudes of labels are counted. Throws UsageError for other
  /// noise, for more records, and for prices whose noise cannot be drawn.
  NormHistogram(ChargeKind noise, double price, std::int64_t records, bool labels = false);

  /// H: of L2 norms, of L1 norms under Laplace noise, and of labels where they are counted.
  [[nodiscard]] std::size_t histograms() const { return (has_l1() ? 2 : 1) + (labels_ ? 1 : 0); }
  [[nodiscard]] bool has_l1() const { return !noise_; }
  /// Counts in a release.
  [[nodiscard]] std::size_t length() const { return bins * histograms(); }
  /// The loss of one record by the release.
  [[nodiscard]] Charge charge() const;
  /// The standard deviation of the noise on a count.
  [[nodiscard]] double deviation() const;
  /// Its scale in integers: σ of Gaussian noise, 2^40 of Laplace noise.
  [[nodiscard]] double scale() const;
  /// The integer by which counts are multiplied before noise is added.
  [[nodiscard]] std::int64_t unit() const { return unit_; }

  /// The bin of a norm; none for 0 and for what is not finite.
  [[nodiscard]] static std::optional<std::size_t> bin_of(double norm);
  /// Counts a record. `counts` has length() entries.
  void count(const RowNorms& norms, NormCounts& counts) const;

  /// Writes noisy counts, of length() entries. `key` is the client's for the run `run_id`. The same arguments give the
  /// same bytes. Throws FailureError for counts of another length or of more records than were announced.
  void release(const ReleaseAddress& address, const std::string& run_id, const NoiseKey& key,
               const Secret<NormCounts>& counts, Released<Vector>& noisy);

 private:
  std::optional<GaussianNoise> noise_;  ///< none: Laplace
  double price_;
  std::int64_t records_;
  bool labels_;
  std::int64_t unit_;
  ReleaseKeys keys_;
  Keystream words_{NoiseKey(NoiseKey::Bytes{})};
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

/// The size of a typical label likewise: the upper end of the median bin, since the median of magnitudes is below their
/// root mean square. Many labels may be zero, which no bin counts, and a bin of noise alone would make a model as large
/// as it says. So bins below 10/7 times `least` count as empty: under Gaussian noise 5 deviations.
[[nodiscard]] std::optional<double> typical_label(View summed, double least, std::int64_t records);

/// The division of what a record pays by this release and by `uses` uses in gradients (one of each pass): together no
/// more than these uses alone would cost at the whole price.
class NormShare {
 public:
  /// `share` S in [0, 1): of all squares of μ under Gaussian noise; under Laplace noise, whose ε add up as they are, √S
  /// of all ε. So S = 0.01 gives the histogram a tenth of a total μ or ε either way. `uses` >= 1.
  NormShare(ChargeKind noise, double share, std::int64_t uses)
      : gaussian_(noise == ChargeKind::gaussian), share_(share), uses_(static_cast<double>(uses)) {}

  [[nodiscard]] bool any() const { return share_ > 0; }
  /// The price of the histogram, where one use costs `price` without it: √(S uses) μ or √S uses ε.
  [[nodiscard]] double of_histogram(double price) const;
  /// The price of a use beside it: √(1 − S) μ or (1 − √S) ε, rounded so that all together never cost more.
  [[nodiscard]] double of_gradients(double price) const;

 private:
  bool gaussian_;
  double share_;
  double uses_;
};

}  // namespace starling
