/// Two kinds of losses of one score, over Loss or CurvedLoss, and the table's rows. Internal to the loss room.
#pragma once

#include <vector>

#include "starling/loss/loss.hpp"

namespace starling {

/// Two classes, −1 and 1 (or 0 and 1), told apart by the sign of one score.
template <class Base>
class Binary : public Base {
 public:
  explicit Binary(const char* name) : name_(name) {}
  [[nodiscard]] bool classifies() const final { return true; }
  [[nodiscard]] double label(double raw) const final {
    if (raw != 1 && raw != -1 && raw != 0) {
      throw_label_fault(raw, fmt::format("is outside the set of the {} loss ({{-1, 1}} or {{0, 1}})", name_));
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

/// One score, any label, no classes.
template <class Base>
class Regression : public Base {
 public:
  [[nodiscard]] bool classifies() const final { return false; }
  [[nodiscard]] double label(double raw) const final { return raw; }
  [[nodiscard]] bool correct(View, double) const final { return false; }
};

/// Loss::evaluate of any loss: where `Final` is its own class, which the compiler sees, no function of it is a virtual
/// call.
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

/// A member of the family, whose records are evaluated by its own functions.
template <class Final, class Base>
class Member : public Base {
 public:
  using Base::Base;
  void evaluate(View scores, View labels, MutableView derivatives, LossTally& tally) const final {
    evaluate_each(static_cast<const Final&>(*this), scores, labels, derivatives, tally);
  }
};

using LossRow = Table<Loss>::Row;

/// Losses that are a CurvedLoss, and that of the generalized distance-weighted discriminant among them.
[[nodiscard]] std::vector<LossRow> curved_rows();
[[nodiscard]] LossRow dwd_row();

}  // namespace starling
