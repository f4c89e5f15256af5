/// Gaussian noise in shares: each client adds its part of the noise and a mask; only the sum over all clients can be
/// read, and it has the whole noise (`--trust masked`; Kairouz, Liu and Steinke 2021).
#pragma once

#include <memory>
#include <vector>

#include "starling/privacy/masking.hpp"
#include "starling/privacy/mechanism.hpp"

namespace starling {

class MaskedGaussian final : public Protection {
 public:
  /// `settings.batch` is m of one client, as everywhere; its prices are μ of the sum over all M clients' records.
  /// Throws UsageError where a sensitivity cannot be proved, or M · m records do not fit into 64 bits.
  MaskedGaussian(const ReleaseSettings& settings, std::int64_t clients);
  ~MaskedGaussian() override;

  [[nodiscard]] Clip clip() const override;
  [[nodiscard]] Charge charge(double price) const override;
  [[nodiscard]] PriceKind price_kind() const override { return PriceKind::mu; }
  [[nodiscard]] std::string description() const override;
  /// What a record pays if `colluding` clients take their own noise off the sum: μ √(M/(M − c)), times what the
  /// discreteness of the shares costs.
  [[nodiscard]] Charge charge_if_collude(double price, std::int64_t colluding) const;

  /// A client's share: its clipped sum on the grid, its part of the noise, and its masks.
  [[nodiscard]] Masked contribute(const ReleaseAddress& address, double price, const NoiseKey& key, Masker& masker,
                                  const Secret<Vector>& sum);
  /// What the sum modulo 2^64 of all clients' shares says: Σ over clients of their sums, with noise.
  [[nodiscard]] Released<Vector> open(double price, const std::vector<std::uint64_t>& total) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace starling
