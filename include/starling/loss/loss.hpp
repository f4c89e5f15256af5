/// Convex losses over the scores of a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "starling/core/columns.hpp"
#include "starling/core/table.hpp"

namespace starling {

/// Throws RecordError: a label of the data is not what a loss takes, for the reason `fault`. Its value is for the owner
/// of the data alone.
[[noreturn]] void throw_label_fault(double raw, const std::string& fault);
/// Whether it is one of 0, …, classes − 1.
[[nodiscard]] bool is_class(double label, std::size_t classes);

/// What the records of a batch come to.
struct LossTally {
  double value = 0;          ///< Σ ℓ
  std::int64_t correct = 0;  ///< records predicted right; 0 for losses that do not classify
};

/// A loss ℓ(s, y) of K scores s and a label y, convex in s.
class Loss {
 public:
  virtual ~Loss() = default;
  /// K, the scores that one record has.
  [[nodiscard]] virtual std::size_t scores() const { return 1; }
  /// Whether labels are classes, so that predictions can be right or wrong.
  [[nodiscard]] virtual bool classifies() const = 0;
  /// The loss's own label for a label of the data (0 becomes −1 for a binary loss). Throws RecordError for a
  /// label outside its set, saying what the set is.
  [[nodiscard]] virtual double label(double raw) const = 0;
  [[nodiscard]] virtual double value(View scores, double label) const = 0;
  /// ∂ℓ/∂s into `derivative` (K entries).
  virtual void derivative(View scores, double label, MutableView derivative) const = 0;
  /// Whether the class that the scores predict is `label`. Only for losses that classify. Scores that do not tell
  /// `label` from another class (0 for a binary loss, a tie for the highest) are wrong for all: a model of zeros, which
  /// has learned nothing, is never right.
  [[nodiscard]] virtual bool correct(View scores, double label) const = 0;
  /// All of the above for the records of `labels`, one after the other, each with K entries of `scores` and of
  /// `derivatives`: derivatives are set, and the rest is added to `tally`. To the bit what calls for each record come
  /// to.
  virtual void evaluate(View scores, View labels, MutableView derivatives, LossTally& tally) const;
};

/// Whether the score of class k is greater than that of every other class.
[[nodiscard]] bool is_highest(View scores, std::size_t k);

/// A loss of one score with a second derivative (almost everywhere), for second-order methods.
class CurvedLoss : public Loss {
 public:
  /// ℓ(s, y) and ∂ℓ/∂s of the score itself, which the two below give too.
  [[nodiscard]] virtual double value_at(double score, double label) const = 0;
  [[nodiscard]] virtual double slope(double score, double label) const = 0;
  [[nodiscard]] double value(View scores, double label) const final { return value_at(scores[0], label); }
  void derivative(View scores, double label, MutableView derivative) const final {
    derivative[0] = slope(scores[0], label);
  }
  /// ∂²ℓ/∂s² ≥ 0.
  [[nodiscard]] virtual double curvature(double score, double label) const = 0;
  /// sup ∂²ℓ/∂s² over all scores: that of a quadratic majoriser.
  [[nodiscard]] virtual double most_curvature() const = 0;
  /// sup |∂ℓ/∂s| over all scores; infinite if there is no bound.
  [[nodiscard]] virtual double most_slope() const = 0;
};

/// The member of loss_table that `text` names, if it has curvature. Throws UsageError, naming those that have, if not.
[[nodiscard]] std::unique_ptr<CurvedLoss> make_curved_loss(const std::string& text);

/// absolute, dwd, expectile, hinge, huber, linear, logistic, softmax, squared.
[[nodiscard]] const Table<Loss>& loss_table();

}  // namespace starling
