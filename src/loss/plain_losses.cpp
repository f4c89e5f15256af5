#include <algorithm>
#include <cmath>

#include "kinds.hpp"

namespace starling {

namespace {

/// max(0, 1 − y s); at the kink the subgradient is 0.
class Hinge final : public Member<Hinge, Binary<Loss>> {
 public:
  Hinge() : Member("hinge") {}
  [[nodiscard]] double value(View scores, double label) const override { return std::max(0.0, 1 - label * scores[0]); }
  void derivative(View scores, double label, MutableView derivative) const override {
    derivative[0] = label * scores[0] < 1 ? -label : 0;
  }
};

/// |s − y|; at the kink the subgradient is 0.
class Absolute final : public Member<Absolute, Regression<Loss>> {
 public:
  Absolute() : Member({.most_slope = 1, .is_symmetric = true}) {}
  [[nodiscard]] double value(View scores, double label) const override { return std::abs(scores[0] - label); }
  void derivative(View scores, double label, MutableView derivative) const override {
    derivative[0] = scores[0] > label ? 1 : scores[0] < label ? -1 : 0;
  }
};

/// (τ − 1(y < s)) (y − s), the pinball loss (Koenker and Bassett 1978): the score of least mean loss is the labels'
/// τ-quantile. At the kink the subgradient is 0.
class Quantile final : public Member<Quantile, Regression<Loss>> {
 public:
  explicit Quantile(double tau)
      : Member({.most_slope = std::max(tau, 1 - tau), .is_symmetric = tau == 0.5}), tau_(tau) {}
  [[nodiscard]] double value(View scores, double label) const override {
    const double above = label - scores[0];
    return above > 0 ? tau_ * above : (tau_ - 1) * above;
  }
  void derivative(View scores, double label, MutableView derivative) const override {
    derivative[0] = scores[0] > label ? 1 - tau_ : scores[0] < label ? -tau_ : 0;
  }

 private:
  double tau_;
};

/// The score s itself, for expert advice: a record's features are the losses of d experts. Labels are not used.
class Linear final : public Member<Linear, Regression<Loss>> {
 public:
  Linear() : Member({.link = Link::none, .bounded_below = false}) {}
  [[nodiscard]] double value(View scores, double) const override { return scores[0]; }
  void derivative(View, double, MutableView derivative) const override { derivative[0] = 1; }
};

/// ln Σ_k e^{s_k} − s_y, y ∈ {0, …, K − 1}.
class Softmax final : public Member<Softmax, Loss> {
 public:
  explicit Softmax(std::size_t classes)
      : Member({.scores = classes, .classifies = true, .link = Link::softmax}), classes_(classes) {}
  [[nodiscard]] double label(double raw) const override {
    if (!is_class(raw, classes_)) {
      throw_label_fault(
          raw,
          fmt::format("is outside the set of softmax:{}: 0 to {}. Name the number of classes, softmax:K, and other "
                      "labels of its classes by --class-labels.",
                      classes_, classes_ - 1));
    }
    return raw;
  }
  [[nodiscard]] double value(View scores, double label) const override {
    const double top = *std::max_element(scores.begin(), scores.end());
    double total = 0;
    for (const double score : scores) total += std::exp(score - top);
    return std::log(total) + top - scores[static_cast<std::size_t>(label)];
  }
  void derivative(View scores, double label, MutableView derivative) const override {
    const double top = *std::max_element(scores.begin(), scores.end());
    double total = 0;
    for (std::size_t k = 0; k < classes_; ++k) total += derivative[k] = std::exp(scores[k] - top);
    for (double& entry : derivative) entry /= total;
    derivative[static_cast<std::size_t>(label)] -= 1;
  }
  [[nodiscard]] bool correct(View scores, double label) const override {
    return is_highest(scores, static_cast<std::size_t>(label));
  }

 private:
  std::size_t classes_;
};

}  // namespace

LossRow absolute_row() {
  return {"absolute", "|s - y|, any label", {}, make_plain<Absolute>};
}

LossRow quantile_row() {
  return {
      "quantile",
      "the pinball loss: |s - y|, tau times for labels above the score and 1 - tau times for those beneath, any label",
      {{"tau", "between 0 and 1; at 0.5 it is half the absolute loss (0.5)"}},
      [](const Spec& spec) -> std::unique_ptr<Loss> {
        const double tau = spec.number("tau", 0.5);
        check(tau > 0 && tau < 1, "'{}': tau must lie between 0 and 1.", spec.text());
        return std::make_unique<Quantile>(tau);
      }};
}

LossRow hinge_row() {
  return {"hinge", "max(0, 1 - y s), labels -1 and 1 (or 0 and 1)", {}, make_plain<Hinge>};
}

LossRow linear_row() {
  return {"linear",
          "the score itself (expert advice: features are the experts' losses; labels are not used)",
          {},
          make_plain<Linear>};
}

LossRow softmax_row() {
  return {"softmax",
          "cross entropy of K classes, labels 0 to K - 1",
          {{"classes", "K, at least 2"}},
          [](const Spec& spec) -> std::unique_ptr<Loss> {
            const long long classes = spec.integer("classes");
            check(classes >= 2 && classes <= 1'000'000, "'{}': softmax takes 2 classes or more.", spec.text());
            return std::make_unique<Softmax>(static_cast<std::size_t>(classes));
          }};
}

}  // namespace starling
