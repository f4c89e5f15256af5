/// The loss of the generalized distance-weighted discriminant (docs/methods/renewable.md; Marron, Todd and Ahn 2007,
/// Wang and Zou 2018).
#include <algorithm>
#include <cmath>
#include <string>

#include "kinds.hpp"

namespace starling {

namespace {

/// The smoothing of V' on [u₀ − ε, u₀ + ε], where V'' jumps.
enum class Smoothing {
  none,   ///< V' stays as it is
  cubic,  ///< the cubic with the values and slopes of V' at both ends
  paper   ///< the parabola that the paper prints above (8), with a jump at u₀ + ε
};

/// V_q(u) of the margin u = y s: 1 − u for u ≤ u₀ = q/(q+1), else u^{−q} q^q/(q+1)^{q+1} = (u₀/u)^q / (q+1), whose
/// slope is −(u₀/u)^{q+1} and whose curvature (q+1)/u (u₀/u)^{q+1}. In this form no power overflows.
class Dwd final : public Member<Dwd, Binary<CurvedLoss>> {
 public:
  /// ε = half_width > 0, except for Smoothing::none.
  Dwd(double q, Smoothing smoothing, double half_width)
      : Member("dwd", {.most_slope = 1}),
        q_(q),
        turn_(turn_of(q)),
        smoothing_(smoothing),
        start_(turn_ - half_width),
        end_(turn_ + half_width),
        width_(2 * half_width),
        end_value_(tail_value(end_)),
        end_curvature_(tail_curvature(end_)),
        rise_(-std::expm1(-(q + 1) * std::log1p(half_width / turn_))) {
    // At the end of the bend, or within it where the cubic is steepest before: t (A + B t) peaks at −A/2B.
    const bool peaks_within = smoothing_ == Smoothing::cubic && linear() < -2 * quadratic();
    traits_.most_curvature = peaks_within ? linear() * linear() / (-4 * quadratic()) / width_ : end_curvature_;
  }

  /// u₀.
  [[nodiscard]] static double turn_of(double q) { return q / (q + 1); }

  [[nodiscard]] double value_at(double score, double label) const override {
    const double u = label * score;
    if (smoothing_ != Smoothing::cubic) return u < turn_ ? 1 - u : tail_value(u);
    if (!(u < end_)) return tail_value(u);
    // The slope's integral, from the end back to u.
    return end_value_ - width_ * (cubic_integral(1) - cubic_integral(place(u))) + std::max(0.0, start_ - u);
  }

  [[nodiscard]] double slope(double score, double label) const override { return label * margin_slope(label * score); }

  [[nodiscard]] double curvature(double score, double label) const override {
    const double u = label * score;
    if (!(u < end_)) return tail_curvature(u);
    if (u <= start_) return 0;
    const double t = place(u);
    // (8): 2a (u − u₀) + b is a line from 0 to the curvature at the end.
    return smoothing_ == Smoothing::paper ? end_curvature_ * t : t * (linear() + quadratic() * t) / width_;
  }

 private:
  [[nodiscard]] double tail_value(double u) const { return std::pow(turn_ / u, q_) / (q_ + 1); }
  [[nodiscard]] double tail_slope(double u) const { return -std::pow(turn_ / u, q_ + 1); }
  [[nodiscard]] double tail_curvature(double u) const { return (q_ + 1) / u * std::pow(turn_ / u, q_ + 1); }

  [[nodiscard]] double margin_slope(double u) const {
    if (!(u < end_)) return tail_slope(u);
    if (u <= start_) return -1;
    const double t = place(u);
    // a (u − u₀)² + b (u − u₀) + c with the paper's a, b, c.
    if (smoothing_ == Smoothing::paper) return -1 + end_curvature_ * width_ / 2 * t * t;
    return -1 + t * t * (linear() / 2 + quadratic() / 3 * t);
  }

  /// Where u stands in the bend, from 0 to 1.
  [[nodiscard]] double place(double u) const { return std::clamp((u - start_) / width_, 0.0, 1.0); }
  /// A and B of the cubic −1 + A t²/2 + B t³/3, which rises by D = rise_ with the slope 2ε V'' at its end. A ≥ 0 and
  /// A + B ≥ 0, so it never falls: (1 + s)^{q+1} − 1 ≥ (q+1) s.
  [[nodiscard]] double linear() const { return 6 * rise_ - 2 * width_ * end_curvature_; }
  [[nodiscard]] double quadratic() const { return 3 * width_ * end_curvature_ - 6 * rise_; }
  [[nodiscard]] double cubic_integral(double t) const { return -t + t * t * t * (linear() / 6 + quadratic() / 12 * t); }

  double q_;
  double turn_;
  Smoothing smoothing_;
  double start_;
  double end_;
  double width_;
  double end_value_;
  double end_curvature_;
  double rise_;
};

std::unique_ptr<Loss> make_dwd(const Spec& spec) {
  const double q = spec.number("q", 1);
  check(q >= 1e-100 && q <= 1e100, "'{}': q must be positive and finite: within 1e-100 and 1e100.", spec.text());
  const double turn = Dwd::turn_of(q);
  const double usual = std::min(0.01, turn / 2);
  const std::string smoothing = spec.find("smoothing").value_or("auto");
  if (smoothing == "auto") return std::make_unique<Dwd>(q, Smoothing::cubic, usual);
  if (smoothing == "paper") return std::make_unique<Dwd>(q, Smoothing::paper, usual);
  double half_width = 0;
  try {
    half_width = parse_number(smoothing, "smoothing");
  } catch (const UsageError&) {
    throw UsageError(
        fmt::format("'{}': smoothing={}: it is not known. Give auto, 0, paper or a number.", spec.text(), smoothing));
  }
  check(half_width >= 0 && half_width <= turn, "'{}': smoothing={}: it must lie between 0 and q/(q+1) = {:.6g}.",
        spec.text(), smoothing, turn);
  return std::make_unique<Dwd>(q, half_width > 0 ? Smoothing::cubic : Smoothing::none, half_width);
}

}  // namespace

LossRow dwd_row() {
  return {"dwd",
          "generalized distance-weighted discriminant: 1 - u for margins u = y s up to u0 = q/(q+1), then u^-q "
          "q^q/(q+1)^(q+1); labels -1 and 1 (or 0 and 1)",
          {{"q", "how fast the tail falls; large q is nearly the hinge loss (1)"},
           {"smoothing",
            "half the width of the bend of its slope at u0: auto is min(0.01, u0/2), 0 none, paper the published "
            "formula, which jumps, else a number up to u0 (auto)"}},
          make_dwd};
}

}  // namespace starling
