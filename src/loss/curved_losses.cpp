#include <algorithm>
#include <array>
#include <cmath>

#include "core/numerics/exponential.hpp"
#include "core/numerics/logarithm.hpp"
#include "kinds.hpp"

namespace starling {

namespace {

/// ln(1 + e^{−y s}), y ∈ {−1, 1}.
class Logistic final : public Binary<CurvedLoss> {
 public:
  Logistic()
      : Binary("logistic", {.link = Link::logit,
                            .most_curvature = 0.25,
                            .most_slope = 1,
                            .has_estimand = true,
                            .likelihood = Likelihood::exact}) {}
  [[nodiscard]] double value_at(double score, double label) const override {
    return value_of(score, label, smaller_power(score, label));
  }
  [[nodiscard]] double slope(double score, double label) const override {
    return slope_of(score, label, smaller_power(score, label));
  }
  [[nodiscard]] double curvature(double score, double) const override {
    const double small = exponential(-std::abs(score));
    return small / ((1 + small) * (1 + small));
  }
  /// Works on 32 records at a time in separate loops, which the compiler vectorises. Each record is a long chain of
  /// operations, so the processor needs several in flight.
  void evaluate(View scores, View labels, MutableView derivatives, LossTally& tally) const override {
    constexpr std::size_t at_once = 32;
    std::array<double, at_once> smalls;
    std::array<double, at_once> values;
    std::array<double, at_once> slopes;
    for (std::size_t first = 0; first < labels.size(); first += at_once) {
      const std::size_t count = std::min(at_once, labels.size() - first);
      const View own = scores.subspan(first, count);
      const View of = labels.subspan(first, count);
      for (std::size_t i = 0; i < count; ++i) smalls[i] = smaller_power(own[i], of[i]);
      for (std::size_t i = 0; i < count; ++i) values[i] = value_of(own[i], of[i], smalls[i]);
      std::int64_t right = 0;
      for (std::size_t i = 0; i < count; ++i) {
        slopes[i] = slope_of(own[i], of[i], smalls[i]);
        right += is_right(own[i], of[i]) ? 1 : 0;
      }
      for (std::size_t i = 0; i < count; ++i) tally.value += values[i];
      std::copy_n(slopes.begin(), count, derivatives.begin() + static_cast<std::ptrdiff_t>(first));
      tally.correct += right;
    }
  }

 private:
  // e^{−|margin|} ≤ 1, without branches; value and slope both follow from it.
  [[nodiscard]] static double smaller_power(double score, double label) {
    const double margin = label * score;
    return exponential(margin > 0 ? -margin : margin);
  }
  [[nodiscard]] static double value_of(double score, double label, double small) {
    const double margin = label * score;
    return logarithm_of_one_and(small) - (margin > 0 ? 0 : margin);
  }
  /// −y / (1 + e^{margin}).
  [[nodiscard]] static double slope_of(double score, double label, double small) {
    return -label * ((label * score > 0 ? small : 1) / (1 + small));
  }
};

/// ½ (s − y)².
class Squared final : public Member<Squared, Regression<CurvedLoss>> {
 public:
  Squared()
      : Member(
            {.most_curvature = 1, .has_estimand = true, .is_symmetric = true, .likelihood = Likelihood::up_to_scale}) {}
  [[nodiscard]] double value_at(double score, double label) const override {
    return 0.5 * (score - label) * (score - label);
  }
  [[nodiscard]] double slope(double score, double label) const override { return score - label; }
  [[nodiscard]] double curvature(double, double) const override { return 1; }
};

/// ½ r² for |r| ≤ c, else c |r| − ½ c², with r = s − y (Huber 1964).
class Huber final : public Member<Huber, Regression<CurvedLoss>> {
 public:
  explicit Huber(double bend)
      : Member({.most_curvature = 1, .most_slope = bend, .has_estimand = true, .is_symmetric = true}), bend_(bend) {}
  [[nodiscard]] double value_at(double score, double label) const override {
    const double distance = std::abs(score - label);
    return distance <= bend_ ? 0.5 * distance * distance : bend_ * (distance - 0.5 * bend_);
  }
  [[nodiscard]] double slope(double score, double label) const override {
    return std::clamp(score - label, -bend_, bend_);
  }
  [[nodiscard]] double curvature(double score, double label) const override {
    return std::abs(score - label) <= bend_ ? 1 : 0;
  }

 private:
  double bend_;
};

/// |τ − 1(r < 0)| times Huber's loss of r = y − s (docs/methods/inference.md). The score of least mean loss is a robust
/// version of the labels' τ-expectile (Newey and Powell 1987).
class Expectile final : public Member<Expectile, Regression<CurvedLoss>> {
 public:
  Expectile(double tau, double bend)
      : Member({.most_curvature = std::max(tau, 1 - tau),
                .most_slope = std::max(tau, 1 - tau) * bend,
                .has_estimand = true,
                .is_symmetric = tau == 0.5}),
        tau_(tau),
        huber_(bend) {}
  [[nodiscard]] double value_at(double score, double label) const override {
    return weight(score, label) * huber_.value_at(score, label);
  }
  [[nodiscard]] double slope(double score, double label) const override {
    return huber_.slope(score, label) * weight(score, label);
  }
  [[nodiscard]] double curvature(double score, double label) const override {
    return weight(score, label) * huber_.curvature(score, label);
  }

 private:
  [[nodiscard]] double weight(double score, double label) const { return label < score ? 1 - tau_ : tau_; }

  double tau_;
  Huber huber_;
};

double bend_of(const Spec& spec) {
  const double bend = spec.number("c", 1.345);
  check(bend > 0 && std::isfinite(bend), "'{}': c must be positive and finite.", spec.text());
  return bend;
}

}  // namespace

LossRow logistic_row() {
  return {"logistic", "ln(1 + exp(-y s)), labels -1 and 1 (or 0 and 1)", {}, make_plain<Logistic>};
}

LossRow squared_row() {
  return {"squared", "(s - y)^2 / 2, any label", {}, make_plain<Squared>};
}

LossRow huber_row() {
  return {"huber",
          "squared near the label, linear beyond c, any label",
          {{"c", "where it bends (1.345)"}},
          [](const Spec& spec) -> std::unique_ptr<Loss> { return std::make_unique<Huber>(bend_of(spec)); }};
}

LossRow expectile_row() {
  return {"expectile",
          "the huber loss, tau times for labels above the score and 1 - tau times for those beneath, any label",
          {{"tau", "between 0 and 1; at 0.5 it is half the huber loss (0.5)"}, {"c", "where it bends (1.345)"}},
          [](const Spec& spec) -> std::unique_ptr<Loss> {
            const double tau = spec.number("tau", 0.5);
            check(tau > 0 && tau < 1, "'{}': tau must lie between 0 and 1.", spec.text());
            return std::make_unique<Expectile>(tau, bend_of(spec));
          }};
}

}  // namespace starling
