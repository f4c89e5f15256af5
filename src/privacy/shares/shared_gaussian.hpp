/// Gaussian noise on sums that are opened from additive shares (docs/methods/shares.md, "Noise").
///
/// K parties hold shares modulo 2^64 of the sum q of integer vectors s_i x_i, one for each record: s_i an integer with
/// |s_i| <= S, x_i the record's integers with ‖x_i‖ <= R over the columns of all parties. Replacing one record moves q
/// by at most Δ = 2 S R in L2. Each party, and the dealer, adds to each of d integers its own discrete Gaussian of
/// standard deviation s = Σ/√K, with Σ = (Δ/μ)(1 + 2^-20): there are K + 1 draws in each component, and whoever knows
/// one of them still faces K, of variance Σ² together. So the cost is μ against each single party and against the
/// dealer, by the proof of privacy/mechanism/masked_gaussian.hpp with M = K, whose condition 1024 d/s² <= 2^-21 μ is
/// checked here too. Of c who pool their draws, K + 1 − c are left: μ √(K/(K + 1 − c)).
///
/// The sums that are opened in one round, to one party each, are one vector of d integers: the bound R is over all
/// columns, so all openings of a round together cost μ.
#pragma once

#include <memory>

#include "privacy/mechanism.hpp"
#include "privacy/shares/ring.hpp"

namespace starling {

/// The integers of a sum.
struct SharedSumTerms {
  std::int64_t most_slope = 1;  ///< S
  double row_bound = 1;         ///< R
  double step = 1;              ///< size of an integer of the sum
  std::int64_t records = 1;     ///< n, which the opened sums are divided by
  std::int64_t parties = 2;     ///< K
  bool noisy = true;            ///< false: no noise, and no protection (`--mechanism none`)
};

class SharedGaussian final : public Protection {
 public:
  /// `settings.clip` is S R step, the bound of a record's part of the sum. Throws UsageError where noise of the size
  /// cannot be drawn, or sums do not fit into 64 bits.
  SharedGaussian(const ReleaseSettings& settings, const SharedSumTerms& terms);
  ~SharedGaussian() override;

  [[nodiscard]] Clip clip() const override { return {ClipKind::l2, settings_.clip}; }
  [[nodiscard]] Charge charge(double price) const override;
  [[nodiscard]] PriceKind price_kind() const override { return terms_.noisy ? PriceKind::mu : PriceKind::none; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] const SharedSumTerms& terms() const { return terms_; }
  /// Says that so many releases, the first ones, have histograms of the columns in place of gradients, for the
  /// description.
  void begins_with_histograms(Round releases) { histograms_ = releases; }
  /// Standard deviation of all noise in a component of the opened mean; 0 without noise.
  [[nodiscard]] double deviation(double price) const;

  /// Adds the noise of one client, party or dealer, to its share of the sum: words of a part of the d components. The
  /// same arguments give the same words.
  void add_noise(const ReleaseAddress& address, double price, const NoiseKey& key, std::span<Word> share);
  /// The mean over the records, from the sum of all shares modulo 2^64.
  [[nodiscard]] Released<Vector> open(std::span<const Word> total) const;

 private:
  [[nodiscard]] double share_deviation(double price) const;

  struct State;
  SharedSumTerms terms_;
  Round histograms_ = 0;  ///< releases of them
  std::unique_ptr<State> state_;
};

/// The factor by which μ grows against `colluding` of the K + 1 who draw noise, if they pool their draws; infinite if
/// nothing is left. One alone: 1.
[[nodiscard]] double loss_by_collusion(std::int64_t parties, std::int64_t colluding);

}  // namespace starling
