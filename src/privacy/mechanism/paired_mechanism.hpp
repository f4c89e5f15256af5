/// A round's release in two parts: a gradient, and another sum over the same records.
///
/// Both parts are made by mechanisms of one kind, each with its own clip, its own noise, and its share of the price. A
/// record enters both, so it pays for both. Parts with independent noise are one release of the vector (part 1, part 2)
/// in which each part is measured in its own noise scale: of Laplace noise the L1 sensitivities in scales add up, so it
/// is a Laplace release of ε₁ + ε₂; of Gaussian noise the L2 sensitivities in standard deviations add in squares, so it
/// is a Gaussian release of √(μ₁² + μ₂²) (docs/methods/privacy.md, "Accounting"). So one charge for each round covers
/// both parts.
///
/// Where the second part is of the records of the first rounds alone, and the first parts are of all other records, a
/// record enters one of them, and pays the price of its round for it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "privacy/mechanism.hpp"
#include "second_part.hpp"

namespace starling {

class PairedMechanism final : public Mechanism {
 public:
  /// `name` is a mechanism whose row is divisible, `settings` are those of the first part with the whole round's
  /// prices. Throws UsageError for other mechanisms, for the unit component, and where a part's sensitivity cannot be
  /// proved.
  PairedMechanism(const std::string& name, const ReleaseSettings& settings, SecondPart second);

  [[nodiscard]] Clip clip() const override { return first_->clip(); }
  [[nodiscard]] Clip second_clip() const { return second_->clip(); }
  /// The charge of both parts, at the price of the round.
  [[nodiscard]] Charge charge(double price) const override;
  [[nodiscard]] Accumulation accumulation() const override;
  [[nodiscard]] PriceKind price_kind() const override { return first_->price_kind(); }
  [[nodiscard]] std::string neighbours() const override { return first_->neighbours(); }
  [[nodiscard]] std::optional<double> own_deviation(double price) const override {
    return first_->own_deviation(price);
  }
  [[nodiscard]] std::string description() const override;
  /// The noise of first parts, which alone may be correlated.
  void persist(Snapshot& snapshot) override { first_->persist(snapshot); }
  void begin_chains() override { first_->begin_chains(); }

  /// Standard deviation of a client's own noise on a component of the first part's noisy mean, and of the second's, in
  /// a round of this price; 0 without noise. Throws FailureError under correlated noise.
  [[nodiscard]] double deviation(double price) const;
  [[nodiscard]] double second_deviation(double price) const;
  /// Likewise of the second part in a round in which it is alone.
  [[nodiscard]] double deviation_alone(double price) const;

  /// The divisor of sums of the second part.
  [[nodiscard]] std::size_t second_batch() const { return second_->settings().batch; }

  /// Releases the first part; `price` is the round's.
  void release(const ReleaseAddress& address, double price, const NoiseKey& key, const Secret<Vector>& sum,
               Released<Vector>& noisy_mean) override;
  /// Releases the second part of the same round, with the `address` and `price` of the first part, if there is one. A
  /// part that is released once has a round of its own, after the last.
  void release_second(const ReleaseAddress& address, double price, const NoiseKey& key, const Secret<Vector>& sum,
                      Released<Vector>& noisy_mean);

 private:
  [[nodiscard]] double first_price(double price) const;
  [[nodiscard]] double second_price(double price) const;
  [[nodiscard]] double own_share() const;

  SecondPart part_;
  PriceKind kind_ = PriceKind::none;
  std::unique_ptr<Mechanism> first_;
  std::unique_ptr<Mechanism> second_;
};

}  // namespace starling
