/// Losses whose score is the logarithm of a mean (docs/methods/counts-and-times.md): counts, and positive amounts.
#include <algorithm>
#include <cmath>

#include "core/numerics/exponential.hpp"
#include "kinds.hpp"

namespace starling {

namespace {

constexpr double usual_most = 100;     ///< the largest mean of a Poisson loss where nobody says one
constexpr double usual_slope = 10;     ///< the steepest slope of a gamma loss likewise
constexpr double unit_of_logs = 0.25;  ///< a quarter of a factor e, whatever the labels

/// y ln y, 0 at 0.
double entropy_term(double y) {
  return y > 0 ? y * std::log(y) : 0;
}

double poisson_deviance(double mean, double label) {
  return 2 * std::max(0.0, mean - label + entropy_term(label) - (label > 0 ? label * std::log(mean) : 0));
}

double gamma_deviance(double mean, double label) {
  return 2 * std::max(0.0, label / mean - 1 - std::log(label / mean));
}

/// Half of the Poisson deviance, e^s − y s + y ln y − y, up to s = ln M; a line from there on. M is `most`.
class Poisson final : public Member<Poisson, CurvedLoss> {
 public:
  /// `caps`: whether labels above M count as M; otherwise they are refused.
  Poisson(double most, bool caps)
      : Member({.link = Link::log,
                .unit = unit_of_logs,
                .deviance = poisson_deviance,
                .most_curvature = most,
                .most_slope = most,
                .has_estimand = true,
                .likelihood = Likelihood::exact}),
        most_(most),
        bend_(std::log(most)),
        caps_(caps) {}
  [[nodiscard]] double label(double raw) const override {
    if (!(raw >= 0) || !std::isfinite(raw)) {
      throw_label_fault(raw,
                        "is outside the set of the poisson loss: numbers from 0 on. Choose another --loss, or see to "
                        "it that the label is a count (starling data describe shows it).");
    }
    if (raw <= most_) return raw;
    if (!caps_) {
      throw_label_fault(raw,
                        fmt::format("is outside the set of the poisson loss: numbers from 0 to {:g}. Give a public "
                                    "bound of counts, as --loss poisson:1000: larger counts are taken as the bound.",
                                    most_));
    }
    return most_;
  }
  [[nodiscard]] double value_at(double score, double label) const override {
    const double inside = std::min(score, bend_);
    const double value = exponential(inside) - label * inside + entropy_term(label) - label;
    return std::max(value, 0.0) + (most_ - label) * (score - inside);
  }
  [[nodiscard]] double slope(double score, double label) const override { return bounded_mean(score) - label; }
  [[nodiscard]] double curvature(double score, double) const override {
    return score < bend_ ? std::min(exponential(score), most_) : 0;
  }
  [[nodiscard]] double usual_curvature(double label) const override { return std::clamp(label, 1.0, most_); }
  /// The deviation of counts of this size, or the distance of the label from a mean of 1, whichever is larger.
  [[nodiscard]] std::optional<double> usual_slope(double label) const override { return std::max(1.0, label); }

 private:
  [[nodiscard]] double bounded_mean(double score) const {
    return score < bend_ ? std::min(exponential(score), most_) : most_;
  }

  double most_;
  double bend_;
  bool caps_;
};

/// Half of the gamma deviance, y e^{−s} − 1 − ln(y e^{−s}), while the slope 1 − y e^{−s} is no less than −B; a line
/// beneath. B is `most`, 1 or more.
class Gamma final : public Member<Gamma, CurvedLoss> {
 public:
  explicit Gamma(double most)
      : Member({.link = Link::log,
                .unit = unit_of_logs,
                .depends_on_label_size = false,
                .deviance = gamma_deviance,
                .most_curvature = 1 + most,
                .most_slope = most,
                .has_estimand = true,
                .likelihood = Likelihood::up_to_scale}),
        most_(most) {}
  [[nodiscard]] double label(double raw) const override {
    if (!(raw > 0) || !std::isfinite(raw)) {
      throw_label_fault(raw,
                        "is outside the set of the gamma loss: numbers above 0. Choose another --loss, such as "
                        "poisson for counts.");
    }
    return raw;
  }
  [[nodiscard]] double value_at(double score, double label) const override {
    const double log_label = std::log(label);
    const double bend = log_label - std::log1p(most_);
    const double log_ratio = log_label - std::max(score, bend);
    return std::max(std::expm1(log_ratio) - log_ratio, 0.0) + most_ * std::max(bend - score, 0.0);
  }
  [[nodiscard]] double slope(double score, double label) const override {
    return std::max(1 - label * exponential(-score), -most_);
  }
  [[nodiscard]] double curvature(double score, double label) const override {
    const double ratio = label * exponential(-score);
    return ratio <= 1 + most_ ? ratio : 0;
  }
  [[nodiscard]] double usual_curvature(double) const override { return 1; }
  [[nodiscard]] std::optional<double> usual_slope(double) const override { return 1; }

 private:
  double most_;
};

}  // namespace

LossRow poisson_row() {
  return {"poisson",
          "exp(s) - y s, counts: labels from 0 on; exp(s) is their mean, up to a bound of means and labels",
          {{"most", "the bound; larger labels are taken as it, or refused where it is not given (100)"}},
          [](const Spec& spec) -> std::unique_ptr<Loss> {
            const double given = spec.number("most", std::nan(""));
            const double most = std::isnan(given) ? usual_most : given;
            check(most >= 1 && most <= 1e9, "'{}': most={}: the bound of counts lies between 1 and 1e9.", spec.text(),
                  most);
            return std::make_unique<Poisson>(most, !std::isnan(given));
          }};
}

LossRow gamma_row() {
  return {"gamma",
          "y exp(-s) + s, labels above 0; exp(s) is their mean, with a bound of the slope",
          {{"most", "the steepest slope, at least 1: labels above 1 + most times the mean pull no harder (10)"}},
          [](const Spec& spec) -> std::unique_ptr<Loss> {
            const double most = spec.number("most", usual_slope);
            check(most >= 1 && most <= 1e9, "'{}': most={}: the steepest slope lies between 1 and 1e9.", spec.text(),
                  most);
            return std::make_unique<Gamma>(most);
          }};
}

}  // namespace starling
