/// Base classes of losses: two classes, regression, and batches without virtual calls.
#pragma once

#include <memory>

#include "loss/loss.hpp"

namespace starling {

/// A loss of two classes, −1 and 1 (or 0 and 1), of which the sign of the score predicts one. `Base` is Loss or
/// CurvedLoss.
template <class Base>
class Binary : public Base {
 public:
  explicit Binary(const char* name, const LossTraits& traits = {}) : Base(traits), name_(name) {
    this->traits_.classifies = true;
  }
  [[nodiscard]] double label(double raw) const final {
    if (raw != 1 && raw != -1 && raw != 0) {
      throw_label_fault(raw,
                        fmt::format("is outside the set of the {} loss: {{-1, 1}} or {{0, 1}}. Name both labels by "
                                    "--class-labels, or those that count as 1 by --positive, or choose another --loss.",
                                    name_));
    }
    return raw == 1 ? 1 : -1;
  }
  [[nodiscard]] bool correct(View scores, double label) const final { return is_right(scores[0], label); }

 protected:
  /// Labels are −1 and 1. A score of zero predicts neither class, and is wrong for both.
  [[nodiscard]] static bool is_right(double score, double label) { return label * score > 0; }

 private:
  const char* name_;
};

/// A loss of one score and any label, without classes. `Base` is Loss or CurvedLoss.
template <class Base>
class Regression : public Base {
 public:
  explicit Regression(const LossTraits& traits = {}) : Base(traits) {}
  [[nodiscard]] double label(double raw) const final { return raw; }
};

/// Loss::evaluate of any loss. If `Final` is the loss's own class, the compiler makes no virtual calls.
template <class Final>
void evaluate_each(const Final& loss, View scores, View labels, MutableView derivatives, LossTally& tally) {
  const std::size_t count = loss.scores();
  const bool classifies = loss.classifies();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const View own = scores.subspan(i * count, count);
    const MutableView derivative = derivatives.subspan(i * count, count);
    tally.value += loss.value(own, labels[i]);
    loss.derivative(own, labels[i], derivative);
    if (classifies && loss.correct(own, labels[i])) ++tally.correct;
  }
}

/// A loss class `Final` whose batches are evaluated without virtual calls: `class Hinge : public Member<Hinge,
/// Binary<Loss>>`.
template <class Final, class Base>
class Member : public Base {
 public:
  using Base::Base;
  void evaluate(View scores, View labels, MutableView derivatives, LossTally& tally) const final {
    evaluate_each(static_cast<const Final&>(*this), scores, labels, derivatives, tally);
  }
};

using LossRow = Table<Loss>::Row;

/// LossRow::make of a loss without parameters.
template <class Final>
std::unique_ptr<Loss> make_plain(const Spec&) {
  return std::make_unique<Final>();
}

}  // namespace starling
