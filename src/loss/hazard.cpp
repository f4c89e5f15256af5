/// The loss of discrete hazards (docs/methods/counts-and-times.md): whether an event happens in an interval of time.
#include "core/numerics/hazard.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/numerics/exponential.hpp"
#include "kinds.hpp"

namespace starling {

namespace {

constexpr double usual_hazard = 2;  ///< the largest cumulative hazard of an interval where nobody says one

/// −ln P(y) with P(1) = 1 − e^{−u}, P(−1) = e^{−u} and the cumulative hazard u = ln 2 e^s of the record's interval. At
/// s = 0 both labels are as likely. For y = −1 the loss is u up to the bound M, and a line in s from there on.
class Hazard final : public Member<Hazard, Binary<CurvedLoss>> {
 public:
  explicit Hazard(double most)
      : Member("hazard", {.link = Link::hazard,
                          .most_curvature = most,
                          .most_slope = most,
                          .has_estimand = true,
                          .likelihood = Likelihood::exact}),
        most_(most),
        bend_(std::log(most / std::numbers::ln2)) {}
  [[nodiscard]] double value_at(double score, double label) const override {
    if (label > 0) {
      // ln u and the first two terms of ln((1 − e^{−u})/u), where u may be 0.
      if (score < small_score) return -(score + log_ln2) + cumulative_hazard(score) / 2;
      const double u = cumulative_hazard(score);
      return u < 0.5 ? -std::log(-std::expm1(-u)) : -std::log1p(-exponential(-u));
    }
    return cumulative_hazard(std::min(score, bend_)) + most_ * std::max(score - bend_, 0.0);
  }
  [[nodiscard]] double slope(double score, double label) const override {
    const double u = cumulative_hazard(score);
    if (label <= 0) return score < bend_ ? std::min(u, most_) : most_;
    return u > large ? 0 : u > 0 ? -u / std::expm1(u) : -1;
  }
  [[nodiscard]] double curvature(double score, double label) const override {
    const double u = cumulative_hazard(score);
    if (label <= 0) return score < bend_ ? std::min(u, most_) : 0;
    if (u < few) return u * (0.5 - u * (1.0 / 6 - u * u / 180));  // the series of what follows
    if (u > large) return 0;
    const double small = exponential(-u);
    return u * small * (u - 1 + small) / ((1 - small) * (1 - small));
  }

 private:
  static constexpr double small_score = -30;
  static constexpr double log_ln2 = -0x1.774f29bdd6b9fp-2;  ///< ln ln 2
  static constexpr double few = 0.01;
  static constexpr double large = 700;

  double most_;
  double bend_;
};

}  // namespace

LossRow hazard_row() {
  return {"hazard",
          "-ln of the probability 1 - 2^-exp(s) of an event in an interval of time; labels -1 and 1 (or 0 and 1)",
          {{"most", "bound of the cumulative hazard of an interval without event, at least 1 (2)"}},
          [](const Spec& spec) -> std::unique_ptr<Loss> {
            const double most = spec.number("most", usual_hazard);
            check(most >= 1 && most <= 100, "'{}': most={}: the bound of hazards lies between 1 and 100.", spec.text(),
                  most);
            return std::make_unique<Hazard>(most);
          }};
}

}  // namespace starling
