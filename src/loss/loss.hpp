/// Convex losses of a record's scores and label, and the table of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/columns.hpp"
#include "core/text/table.hpp"

namespace starling {

/// Throws RecordError: a loss refuses a label of the data because of `fault`. Only the owner of the data may read the
/// label's value.
[[noreturn]] void throw_label_fault(double raw, const std::string& fault);
/// Whether a label is one of 0, …, classes − 1.
[[nodiscard]] bool is_class(double label, std::size_t classes);

/// Total loss and number of correct predictions of a batch.
struct LossTally {
  double value = 0;          ///< Σ ℓ
  std::int64_t correct = 0;  ///< records whose class is predicted; 0 for losses that do not classify
};

/// The relation of scores to labels.
enum class Link {
  identity,  ///< the score predicts the label itself
  logit,     ///< the logistic function of the score is the probability of label 1
  softmax,   ///< the softmax of the scores are the classes' probabilities
  log,       ///< the exponential of the score is the label's mean
  hazard,    ///< 1 − 2^−e^s is the probability of label 1 (core/numerics/hazard.hpp)
  none       ///< scores are neither labels nor probabilities
};

class CurvedLoss;

/// The deviance of a label from a mean, both positive (the label of a count may be 0): twice the log-likelihood that
/// the label's own mean would gain.
using Deviance = double(double mean, double label);

/// A loss ℓ(s, y) of K scores s and a label y, convex in s.
class Loss {
 public:
  virtual ~Loss() = default;
  /// Number K of scores of a record.
  [[nodiscard]] virtual std::size_t scores() const { return 1; }
  /// Whether labels are classes, so that a prediction is right or wrong.
  [[nodiscard]] virtual bool classifies() const = 0;
  [[nodiscard]] virtual Link link() const { return classifies() ? Link::none : Link::identity; }
  /// Whether ℓ ≥ 0 everywhere. A network that learns by an unbounded loss would lower it for ever.
  [[nodiscard]] virtual bool bounded_below() const { return true; }
  /// The size of differences between scores that matter, for labels whose typical size is `label`: 1 of losses that
  /// classify (a logit), else label/4. Steps and noise are measured by it (docs/methods/learning-rule.md).
  [[nodiscard]] virtual double unit_of_scores(double label) const { return classifies() ? 1 : label / 4; }
  /// |∂ℓ/∂s| of a typical record, for labels whose typical size is `label`; none: that at a score of 0. The clip of
  /// `--tuning` is measured by it.
  [[nodiscard]] virtual std::optional<double> usual_slope(double /*label*/) const { return std::nullopt; }
  /// Whether unit_of_scores and usual_slope depend on the size of labels.
  [[nodiscard]] virtual bool depends_on_label_size() const { return !classifies(); }
  /// The deviance that half of the loss stands for; null for a loss of no such family.
  [[nodiscard]] virtual Deviance* deviance() const { return nullptr; }
  /// This loss with its second derivative; null for a loss that has none.
  [[nodiscard]] virtual const CurvedLoss* curved() const { return nullptr; }
  /// The loss's own label for a label of the data (a binary loss takes 0 for −1). Throws RecordError, naming the set of
  /// labels, for a label outside the set.
  [[nodiscard]] virtual double label(double raw) const = 0;
  [[nodiscard]] virtual double value(View scores, double label) const = 0;
  /// Writes ∂ℓ/∂s into `derivative` (K entries).
  virtual void derivative(View scores, double label, MutableView derivative) const = 0;
  /// Whether the scores predict the class `label`; only for losses that classify. A tie between `label` and another
  /// class (a score of 0 for a binary loss) is wrong, so a model of zeros is never right.
  [[nodiscard]] virtual bool correct(View scores, double label) const = 0;
  /// Sets the derivatives of a batch and adds losses and correct predictions to `tally`. `scores` and `derivatives`
  /// have K entries for each of `labels`. The result equals calls for each record bit for bit.
  virtual void evaluate(View scores, View labels, MutableView derivatives, LossTally& tally) const;
};

/// Whether scores with this link give probabilities of classes.
[[nodiscard]] bool gives_probabilities(Link link);

/// Whether the score of class k is greater than the score of every other class.
[[nodiscard]] bool is_highest(View scores, std::size_t k);

/// Whether a loss is the negative log-likelihood of a model of the labels.
enum class Likelihood {
  none,        ///< of no model
  exact,       ///< of a model without further parameters
  up_to_scale  ///< of a model whose error variance is estimated
};

/// A loss of one score with a second derivative (almost everywhere), for second-order methods.
class CurvedLoss : public Loss {
 public:
  [[nodiscard]] const CurvedLoss* curved() const final { return this; }
  /// ℓ(s, y), as `value`.
  [[nodiscard]] virtual double value_at(double score, double label) const = 0;
  /// ∂ℓ/∂s, as `derivative`.
  [[nodiscard]] virtual double slope(double score, double label) const = 0;
  [[nodiscard]] double value(View scores, double label) const final { return value_at(scores[0], label); }
  void derivative(View scores, double label, MutableView derivative) const final {
    derivative[0] = slope(scores[0], label);
  }
  /// ∂²ℓ/∂s² ≥ 0.
  [[nodiscard]] virtual double curvature(double score, double label) const = 0;
  /// sup ∂²ℓ/∂s² over all scores: the curvature of a quadratic majoriser.
  [[nodiscard]] virtual double most_curvature() const = 0;
  /// ∂²ℓ/∂s² of a typical record near the minimum, for labels whose typical size is `label`.
  [[nodiscard]] virtual double usual_curvature(double /*label*/) const { return 0.8 * most_curvature(); }
  /// sup |∂ℓ/∂s| over all scores; infinite if the slope has no bound.
  [[nodiscard]] virtual double most_slope() const = 0;

  /// Whether the score of least mean loss is a parameter of the labels' distribution (mean, log-odds, expectile), so
  /// that `starling infer` can give intervals for the parameter.
  [[nodiscard]] virtual bool has_estimand() const { return false; }
  /// Whether ℓ depends on |s − y| alone. Otherwise noise biases the average of noisy steps.
  [[nodiscard]] virtual bool is_symmetric() const { return false; }
  [[nodiscard]] virtual Likelihood likelihood() const { return Likelihood::none; }
};

/// The table of losses.
[[nodiscard]] const Table<Loss>& loss_table();

/// The members of loss_table with a property, which is asked of the loss at the default values of its parameters (at
/// two classes where their number is a parameter).
[[nodiscard]] Table<Loss> losses_that(bool (*hold)(const Loss&));

/// Whether the member of loss_table that the spec `text` names has the parameter `key`; false for an unknown name.
[[nodiscard]] bool has_parameter(const std::string& text, std::string_view key);
/// Whether the number of scores is a parameter of the loss that `text` names: labels are the classes 0, 1, ….
[[nodiscard]] bool counts_classes(const std::string& text);

/// The member of `table` that the spec `text` names. Throws UsageError, naming the members with curvature, if it has no
/// curvature.
[[nodiscard]] std::unique_ptr<CurvedLoss> make_curved_loss(const std::string& text,
                                                           const Table<Loss>& table = loss_table());

}  // namespace starling
