/// Convex losses of a record's scores and label, and the table of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/columns.hpp"
#include "core/text/spec.hpp"

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

/// Whether a loss is the negative log-likelihood of a model of the labels.
enum class Likelihood {
  none,        ///< of no model
  exact,       ///< of a model without further parameters
  up_to_scale  ///< of a model whose error variance is estimated
};

/// Facts of a loss that no record changes.
struct LossTraits {
  std::size_t scores = 1;         ///< number K of scores of a record
  bool classifies = false;        ///< whether labels are classes, so that a prediction is right or wrong
  std::optional<Link> link = {};  ///< without a value: none for a loss that classifies, else identity
  /// Whether ℓ ≥ 0 everywhere. A network that learns by an unbounded loss would lower it for ever.
  bool bounded_below = true;
  /// The size of differences between scores that matter. Without a value: 1 for a loss that classifies (a logit), else
  /// a quarter of the typical size of labels. Steps and noise are measured by it (docs/methods/learning-rule.md).
  std::optional<double> unit = {};
  /// Whether the unit or usual_slope depends on the size of labels; never for a loss that classifies.
  bool depends_on_label_size = true;
  Deviance* deviance = nullptr;  ///< that half of the loss stands for; null for a loss of no such family
  double most_curvature = 0;  ///< sup ∂²ℓ/∂s² over all scores, of a loss that has it: that of a quadratic majoriser
  double most_slope = std::numeric_limits<double>::infinity();  ///< sup |∂ℓ/∂s| over all scores
  /// Whether the score of least mean loss is a parameter of the labels' distribution (mean, log-odds, expectile), so
  /// that `starling infer` can give intervals for the parameter.
  bool has_estimand = false;
  bool is_symmetric = false;  ///< whether ℓ depends on |s − y| alone; else noise biases the average of noisy steps
  Likelihood likelihood = Likelihood::none;
};

/// A loss ℓ(s, y) of K scores s and a label y, convex in s.
class Loss {
 public:
  explicit Loss(const LossTraits& traits) : traits_(traits) {}
  virtual ~Loss() = default;
  [[nodiscard]] std::size_t scores() const { return traits_.scores; }
  [[nodiscard]] bool classifies() const { return traits_.classifies; }
  [[nodiscard]] Link link() const { return traits_.link.value_or(classifies() ? Link::none : Link::identity); }
  [[nodiscard]] bool bounded_below() const { return traits_.bounded_below; }
  /// The unit for labels whose typical size is `label`.
  [[nodiscard]] double unit_of_scores(double label) const {
    return traits_.unit.value_or(classifies() ? 1 : label / 4);
  }
  [[nodiscard]] bool depends_on_label_size() const { return traits_.depends_on_label_size && !classifies(); }
  [[nodiscard]] Deviance* deviance() const { return traits_.deviance; }
  [[nodiscard]] double most_slope() const { return traits_.most_slope; }
  [[nodiscard]] bool is_symmetric() const { return traits_.is_symmetric; }
  /// Whether scores predict the labels themselves, and another part of them than their middle, such as a quantile.
  [[nodiscard]] bool predicts_tail() const { return link() == Link::identity && !is_symmetric(); }
  /// |∂ℓ/∂s| of a typical record, for labels whose typical size is `label`; none: that at a score of 0. The clip of
  /// `--tuning` is measured by it.
  [[nodiscard]] virtual std::optional<double> usual_slope(double /*label*/) const { return std::nullopt; }
  /// This loss with its second derivative; null for a loss that has none.
  [[nodiscard]] virtual const CurvedLoss* curved() const { return nullptr; }
  /// The loss's own label for a label of the data (a binary loss takes 0 for −1). Throws RecordError, naming the set of
  /// labels, for a label outside the set.
  [[nodiscard]] virtual double label(double raw) const = 0;
  [[nodiscard]] virtual double value(View scores, double label) const = 0;
  /// Writes ∂ℓ/∂s into `derivative` (K entries).
  virtual void derivative(View scores, double label, MutableView derivative) const = 0;
  /// Whether the scores predict the class `label`; false for losses that do not classify. A tie between `label` and
  /// another class (a score of 0 for a binary loss) is wrong, so a model of zeros is never right.
  [[nodiscard]] virtual bool correct(View /*scores*/, double /*label*/) const { return false; }
  /// Sets the derivatives of a batch and adds losses and correct predictions to `tally`. `scores` and `derivatives`
  /// have K entries for each of `labels`. The result equals calls for each record bit for bit.
  virtual void evaluate(View scores, View labels, MutableView derivatives, LossTally& tally) const;

 protected:
  LossTraits traits_;
};

/// A loss of one score with a second derivative (almost everywhere), for second-order methods.
class CurvedLoss : public Loss {
 public:
  using Loss::Loss;
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
  /// ∂²ℓ/∂s² of a typical record near the minimum, for labels whose typical size is `label`.
  [[nodiscard]] virtual double usual_curvature(double /*label*/) const { return 0.8 * most_curvature(); }
  [[nodiscard]] double most_curvature() const { return traits_.most_curvature; }
  [[nodiscard]] bool has_estimand() const { return traits_.has_estimand; }
  [[nodiscard]] Likelihood likelihood() const { return traits_.likelihood; }
};

/// Whether scores with this link give probabilities of classes.
[[nodiscard]] bool gives_probabilities(Link link);

/// The number of classes of a loss that classifies: those of one score are two.
[[nodiscard]] std::size_t classes_of(const Loss& loss);
/// The scores that give the classes these probabilities, positive and with a sum of 1; `link` must give probabilities.
/// The K scores of a softmax, of which any constant could be taken off, add up to 0.
[[nodiscard]] Vector scores_of(Link link, View probabilities);

/// Whether the score of class k is greater than the score of every other class.
[[nodiscard]] bool is_highest(View scores, std::size_t k);

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
