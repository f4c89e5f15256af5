#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "privacy/accounting/in_words.hpp"
#include "privacy/keys/keystream.hpp"
#include "privacy/noise/unscaled.hpp"
#include "privacy/rows.hpp"

namespace starling {

namespace {

/// The dissertation's Algorithm 3, as printed (docs/methods/privacy.md): N_j ~ Lap(1/ε), b/2 in its place where |N_j| >
/// b with b = (ln T)²/ε; ĝ = (g + N + b) / (2b + 1), then ĝ / ‖ĝ‖₂.
///
/// Its cost. Let p = P(|N| > b) = e^(−εb) = T^(−ln T). N has the density (ε/2) e^(−ε|n|) on [−b, b] and an atom p
/// at b/2. If one component of g moves by Δ, 0 < |Δ| ≤ 1, then the densities differ by at most a factor e^ε where both
/// are positive; the atom, of mass p, moves to a place that had no mass; and an interval at the edge of the support, of
/// mass ½(e^(−ε(b − |Δ|)) − e^(−εb)) ≤ p (e^ε − 1)/2, is left. So δ = p + p (e^ε − 1)/2 = p (1 + e^ε)/2, attained at
/// |Δ| = 1, and no finite ε has δ = 0. The shift, the division and the normalisation are post-processing.
///
/// For a whole record: clipped to ‖·‖₂ ≤ C, it moves the mean by ‖Δ‖₂ ≤ 2C/m, so ‖Δ‖₁ ≤ 2C√d/m and each |Δ_j| ≤ 2C/m;
/// the components' losses add up to (2Cε√d/m, d p (1 + e^(2Cε/m))/2).
class Dissertation final : public Mechanism, public Unscaled {
 public:
  explicit Dissertation(const ReleaseSettings& settings)
      : Mechanism(settings), epsilon_(settings.price.least), bits_(settings.dimension) {
    check(epsilon_ > 0 && std::isfinite(epsilon_), "epsilon={}: must be positive and finite.", epsilon_);
    check(settings.price.least == settings.price.most,
          "epsilon from {} to {}: the dissertation's mechanism knows one epsilon for all rounds and clients. Give one "
          "number, or choose laplace.",
          settings.price.least, settings.price.most);
    check(settings.clip > 0 && std::isfinite(settings.clip), "clip={}: must be positive and finite.", settings.clip);
    check(settings.batch >= 1 && settings.dimension >= 1, "batch={} and dimension={}: must be at least 1.",
          settings.batch, settings.dimension);
    check(settings.rounds >= 2,
          "rounds={}: the dissertation's mechanism truncates its noise at (ln T)^2 / epsilon, which is 0 at T = 1. Run "
          "at least 2 rounds.",
          settings.rounds);
    truncation_ = log_rounds() * log_rounds() / epsilon_;
  }

  [[nodiscard]] Clip clip() const override { return {ClipKind::l2, settings_.clip}; }
  [[nodiscard]] PrivacyUnit unit() const override { return PrivacyUnit::component; }
  [[nodiscard]] Charge charge(double /*price*/) const override {
    return Charge::approximate(epsilon_, delta(epsilon_));
  }
  [[nodiscard]] PriceKind price_kind() const override { return PriceKind::epsilon; }
  [[nodiscard]] std::string description() const override {
    const double d = static_cast<double>(settings_.dimension);
    const double moved = 2 * settings_.clip / static_cast<double>(settings_.batch) * epsilon_;
    return fmt::format(
        "Laplace noise of scale {:.6g}, replaced by {:.6g} where it exceeds {:.6g}, is added in floating point, and "
        "the result is shifted and normalised (the dissertation's Algorithm 3). Replacing a whole record costs up to "
        "epsilon = {} with delta = {} per release, and no finite epsilon holds with delta = 0.",
        1 / epsilon_, truncation_ / 2, truncation_, upper(moved * std::sqrt(d)),
        upper(std::min(1.0, d * delta(moved))));
  }
  [[nodiscard]] std::string neighbours() const override {
    return "one component of a client's mean gradient differs by at most 1, all else staying as it is";
  }

  void release(const ReleaseAddress& address, double price, const NoiseKey& key, const Secret<Vector>& sum,
               Released<Vector>& noisy_mean) override {
    release_unscaled(address, price, key, sum, noisy_mean);
    noisy_mean.update([](Vector& mean) {
      const double length = norm2(mean);
      if (length > 0) scale(1 / length, mean);
    });
  }
  void release_unscaled(const ReleaseAddress& address, double price, const NoiseKey& key, const Secret<Vector>& sum,
                        Released<Vector>& noisy_mean) override {
    check_price(price);
    const Vector& values = open(sum);
    check_sum(address, values);
    std::transform(values.begin(), values.end(), bits_.begin(),
                   [](double value) { return std::bit_cast<std::int64_t>(value); });
    words_.restart(release_stream(keys_, key, settings_.run_id, address, "dissertation", 1 / epsilon_, 0, bits_));
    noisy_mean.update([&](Vector& mean) {
      mean.resize(values.size());
      for (std::size_t j = 0; j < mean.size(); ++j) mean[j] = noisy(values[j] / static_cast<double>(settings_.batch));
    });
  }

 private:
  [[nodiscard]] double log_rounds() const { return std::log(static_cast<double>(settings_.rounds)); }
  /// p (1 + e^ε)/2, at most 1.
  [[nodiscard]] double delta(double epsilon) const {
    const double p = std::exp(-log_rounds() * log_rounds());
    return std::min(1.0, p * (1 + std::exp(epsilon)) / 2);
  }
  [[nodiscard]] double noisy(double component) {
    double noise = floating_laplace(words_, 1 / epsilon_);
    if (std::abs(noise) > truncation_) noise = truncation_ / 2;
    return (component + noise + truncation_) / (2 * truncation_ + 1);
  }

  double epsilon_;
  double truncation_ = 0;  // b
  std::vector<std::int64_t> bits_;
  ReleaseKeys keys_;
  Keystream words_{NoiseKey(NoiseKey::Bytes{})};
};

}  // namespace

MechanismRow dissertation_row() {
  MechanismRow row{{"dissertation",
                    "truncated, shifted and normalised Laplace noise: to re-run the dissertation's chapter 2 only",
                    {},
                    make_mechanism<Dissertation>},
                   ChargeKind::approximate};
  row.depends_on_rounds = true;
  row.about_means = true;
  return row;
}

}  // namespace starling
