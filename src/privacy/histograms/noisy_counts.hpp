/// Histograms of a client's records with noise, or sums over them, released once: before the first round, or after the
/// last.
///
/// A record is counted once in each of H histograms, so that one replaced record moves two counts of each by 1:
/// together √(2H) in L2, 2H in L1. The last histogram may have a weight w, as if it were w² of them in L2, w in L1.
///
/// Of H sums a record adds a whole number of 0 to 2^20 to each, so that one replaced record moves them by √H·2^20 in
/// L2. If the last has a weight w it adds 2^20/w to it at most: √(H − 1 + 1/w²)·2^20. Sums may be such that a record
/// moves them by 2^20 together.
///
/// Gaussian noise: counts times 2^20 are integers that move by √(2H)·2^20 in L2, to which a correctly rounded Gaussian
/// of σ = √(2H)·2^20/μ is added (√H·2^20/μ or 2^20/μ to sums, which are such integers as they are). That is
/// post-processing of the continuous mechanism, so it costs exactly μ (gaussian.cpp).
///
/// Noise between pairs of clients (pair_noise.hpp) is added beside a client's own, whose σ_a = (√h Δ + ½ √(R d))/μ
/// then: its proof is of any integers that one replaced record moves by Δ in L2, in d components at most. Here Δ is the
/// sensitivity above, and d is 2H, or H of sums. All clients release in the one round that there is: those without
/// records release zeros, which depend on no record, so that the noise of all pairs cancels in the sum over clients.
///
/// Laplace noise: discrete Laplace noise has the scale t = 2^40 in integers. Counts times the integer s = ⌊ε·2^40/2H⌋
/// move by 2H s, so that the loss is 2H s/t <= ε, exactly. (Where so many records would not fit into 64 bits, s is
/// smaller, and the loss with it.)
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/boundary.hpp"
#include "core/columns.hpp"
#include "privacy/charge.hpp"
#include "privacy/keys/keystream.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/noise/gaussian_noise.hpp"
#include "privacy/pairs/pair_noise.hpp"

namespace starling {

class NoisyCounts : private Release {
 public:
  /// The most records of a client.
  static constexpr std::int64_t most_records = std::int64_t{1} << 40;
  /// The most that a record adds to a sum.
  static constexpr std::int64_t most_of_sum = std::int64_t{1} << 20;

  /// The size of the histograms, and their names.
  struct Form {
    std::string name;            ///< "histogram of norms", in messages
    std::string option;          ///< the option that names its share, in messages
    std::string stream;          ///< the first word of the names of its streams of noise
    std::size_t histograms = 1;  ///< H
    std::size_t bins = 1;        ///< of each
    std::size_t weight = 1;      ///< what a record adds to a count of the last one; of sums, by what less it adds
    bool sums = false;           ///< whether these are sums, of one bin each; under Gaussian noise alone
    bool together = false;       ///< whether a replaced record moves all sums by 2^20 at most in L2
    /// Counts in a release.
    [[nodiscard]] std::size_t length() const { return bins * histograms; }
    /// Counts that one replaced record moves, at most.
    [[nodiscard]] std::size_t moved() const { return sums ? histograms : 2 * histograms; }
  };

  /// `noise` is gaussian or laplace; `price` is the μ or ε of the release; `records` is the public number of records of
  /// the client, 0 to most_records over the weight; `pairs` are the terms of noise that pairs share beside Gaussian
  /// noise. Throws UsageError for other noise, for more records, and for prices whose noise cannot be drawn.
  NoisyCounts(Form form, ChargeKind noise, double price, std::int64_t records, const PairTerms& pairs = {});

  [[nodiscard]] std::size_t histograms() const { return form_.histograms; }
  [[nodiscard]] std::size_t length() const { return form_.length(); }
  [[nodiscard]] bool gaussian() const { return noise_.has_value(); }
  /// The loss of one record by the release.
  [[nodiscard]] Charge charge() const;
  /// The standard deviation of the client's own noise on a count.
  [[nodiscard]] double deviation() const;
  /// Its scale in integers: σ of Gaussian noise, 2^40 of Laplace noise.
  [[nodiscard]] double scale() const;
  /// The integer by which counts are multiplied before noise is added, and sums are divided after it.
  [[nodiscard]] std::int64_t unit() const { return unit_; }

  /// Writes noisy counts, of length() entries. `key` is the client's for the run `run_id`. The same arguments give the
  /// same bytes. `pairs`, of the run's keys, adds noise where there are terms of it. Throws FailureError for counts of
  /// another length or of more records than were announced.
  void release(const ReleaseAddress& address, const std::string& run_id, const NoiseKey& key,
               const Secret<Counts>& counts, Released<Vector>& noisy, PairNoise* pairs = nullptr);

 private:
  Form form_;
  std::optional<GaussianNoise> noise_;  ///< none: Laplace
  double price_;
  std::int64_t records_;
  std::int64_t unit_;
  bool in_pairs_;
  ReleaseKeys keys_;
  Keystream words_{NoiseKey(NoiseKey::Bytes{})};
};

}  // namespace starling
