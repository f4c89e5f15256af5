#include <algorithm>
#include <cmath>

#include "starling/loss/loss.hpp"

namespace starling {

namespace {

/// Two classes, −1 and 1 (or 0 and 1), told apart by the sign of one score.
class BinaryLoss : public Loss {
 public:
  explicit BinaryLoss(const char* name) : name_(name) {}
  [[nodiscard]] bool classifies() const final { return true; }
  [[nodiscard]] double label(double raw) const final {
    check<DataError>(raw == 1 || raw == -1 || raw == 0,
                     "label {} is outside the set of the {} loss ({{-1, 1}} or {{0, 1}})", raw, name_);
    return raw == 1 ? 1 : -1;
  }
  [[nodiscard]] bool correct(View scores, double label) const final { return (scores[0] > 0) == (label > 0); }

 private:
  const char* name_;
};

/// One score, any label, no classes.
class RegressionLoss : public Loss {
 public:
  [[nodiscard]] bool classifies() const final { return false; }
  [[nodiscard]] double label(double raw) const final { return raw; }
  [[nodiscard]] bool correct(View, double) const final { return false; }
};

/// ln(1 + e^{−y s}), y ∈ {−1, 1}.
class Logistic final : public BinaryLoss {
 public:
  Logistic() : BinaryLoss("logistic") {}
  [[nodiscard]] double value(View scores, double label) const override {
    const double margin = label * scores[0];
    return margin > 0 ? std::log1p(std::exp(-margin)) : std::log1p(std::exp(margin)) - margin;
  }
  void derivative(View scores, double label, MutableView derivative) const override {
    const double margin = label * scores[0];
    // −y / (1 + e^{margin}); the branch keeps the exponential below one.
    derivative[0] = -label * (margin > 0 ? std::exp(-margin) / (1 + std::exp(-margin)) : 1 / (1 + std::exp(margin)));
  }
};

/// max(0, 1 − y s); at the kink the subgradient is 0.
class Hinge final : public BinaryLoss {
 public:
  Hinge() : BinaryLoss("hinge") {}
  [[nodiscard]] double value(View scores, double label) const override { return std::max(0.0, 1 - label * scores[0]); }
  void derivative(View scores, double label, MutableView derivative) const override {
    derivative[0] = label * scores[0] < 1 ? -label : 0;
  }
};

/// ½ (s − y)².
class Squared final : public RegressionLoss {
 public:
  [[nodiscard]] double value(View scores, double label) const override {
    return 0.5 * (scores[0] - label) * (scores[0] - label);
  }
  void derivative(View scores, double label, MutableView derivative) const override {
    derivative[0] = scores[0] - label;
  }
};

/// ½ r² for |r| ≤ c, else c |r| − ½ c², with r = s − y (Huber 1964).
class Huber final : public RegressionLoss {
 public:
  explicit Huber(double bend) : bend_(bend) {}
  [[nodiscard]] double value(View scores, double label) const override {
    const double distance = std::abs(scores[0] - label);
    return distance <= bend_ ? 0.5 * distance * distance : bend_ * (distance - 0.5 * bend_);
  }
  void derivative(View scores, double label, MutableView derivative) const override {
    derivative[0] = std::clamp(scores[0] - label, -bend_, bend_);
  }

 private:
  double bend_;
};

/// |s − y|; at the kink the subgradient is 0.
class Absolute final : public RegressionLoss {
 public:
  [[nodiscard]] double value(View scores, double label) const override { return std::abs(scores[0] - label); }
  void derivative(View scores, double label, MutableView derivative) const override {
    derivative[0] = scores[0] > label ? 1 : scores[0] < label ? -1 : 0;
  }
};

/// s itself: a record's features are the losses of d experts, its label is not used.
class Linear final : public RegressionLoss {
 public:
  [[nodiscard]] double value(View scores, double) const override { return scores[0]; }
  void derivative(View, double, MutableView derivative) const override { derivative[0] = 1; }
};

/// ln Σ_k e^{s_k} − s_y, y ∈ {0, …, K − 1}.
class Softmax final : public Loss {
 public:
  explicit Softmax(std::size_t classes) : classes_(classes) {}
  [[nodiscard]] std::size_t scores() const override { return classes_; }
  [[nodiscard]] bool classifies() const override { return true; }
  [[nodiscard]] double label(double raw) const override {
    check<DataError>(raw >= 0 && raw < static_cast<double>(classes_) && raw == std::floor(raw),
                     "label {} is outside the set of softmax:{} (0 to {}) name the number of classes: softmax:K", raw,
                     classes_, classes_ - 1);
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
    const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
    return static_cast<double>(best) == label;
  }

 private:
  std::size_t classes_;
};

}  // namespace

const Table<Loss>& loss_table() {
  static const Table<Loss> table(
      "loss", {{"logistic",
                "ln(1 + exp(-y s)), labels -1 and 1 (or 0 and 1)",
                {},
                [](const Spec&) -> std::unique_ptr<Loss> { return std::make_unique<Logistic>(); }},
               {"squared",
                "(s - y)^2 / 2, any label",
                {},
                [](const Spec&) -> std::unique_ptr<Loss> { return std::make_unique<Squared>(); }},
               {"huber",
                "squared near the label, linear beyond c, any label",
                {{"c", "where it bends (1.345)"}},
                [](const Spec& spec) -> std::unique_ptr<Loss> {
                  const double bend = spec.number("c", 1.345);
                  check(bend > 0 && std::isfinite(bend), "'{}' (c must be positive and finite)", spec.text());
                  return std::make_unique<Huber>(bend);
                }},
               {"absolute",
                "|s - y|, any label",
                {},
                [](const Spec&) -> std::unique_ptr<Loss> { return std::make_unique<Absolute>(); }},
               {"hinge",
                "max(0, 1 - y s), labels -1 and 1 (or 0 and 1)",
                {},
                [](const Spec&) -> std::unique_ptr<Loss> { return std::make_unique<Hinge>(); }},
               {"linear",
                "the score itself (expert advice: features are the experts' losses; labels are not used)",
                {},
                [](const Spec&) -> std::unique_ptr<Loss> { return std::make_unique<Linear>(); }},
               {"softmax",
                "cross entropy of K classes, labels 0 to K - 1",
                {{"classes", "K, at least 2"}},
                [](const Spec& spec) -> std::unique_ptr<Loss> {
                  const long long classes = spec.integer("classes");
                  check(classes >= 2 && classes <= 1'000'000, "'{}' (softmax takes 2 classes or more)", spec.text());
                  return std::make_unique<Softmax>(static_cast<std::size_t>(classes));
                }}});
  return table;
}

}  // namespace starling
