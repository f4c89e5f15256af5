/// Losses of a network's outputs and a record's one or several targets (docs/methods/vertical.md).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/columns.hpp"
#include "loss/loss.hpp"

namespace starling {

/// A loss ℓ(s, y) of K outputs s and the targets y of a record. Networks lower its mean over records.
class TargetLoss {
 public:
  virtual ~TargetLoss() = default;
  /// Number K of outputs.
  [[nodiscard]] virtual std::size_t outputs() const = 0;
  /// Length of y.
  [[nodiscard]] virtual std::size_t targets() const = 0;
  /// Whether targets are classes, so that a prediction is right or wrong.
  [[nodiscard]] virtual bool classifies() const = 0;
  /// The meaning of the outputs, as of a loss's scores.
  [[nodiscard]] virtual Link link() const = 0;
  /// The member of loss_table of the same scores, for a saved model; empty for several targets. The squared loss stands
  /// for the mean squared error, which has the same predictions.
  [[nodiscard]] virtual std::string loss_of_scores() const = 0;
  /// Whether the mean loss is the mean squared error of the outputs.
  [[nodiscard]] virtual bool is_mean_squared_error() const { return false; }
  /// The loss's own target for a target of the data. Throws DataError, naming the set of targets, for a target outside
  /// the set.
  [[nodiscard]] virtual double label(double raw) const = 0;
  [[nodiscard]] virtual double value(View outputs, View targets) const = 0;
  /// Writes ∂ℓ/∂s into `derivative` (K entries).
  virtual void derivative(View outputs, View targets, MutableView derivative) const = 0;
  /// Whether the outputs predict the target's class; only for losses that classify.
  [[nodiscard]] virtual bool correct(View outputs, View targets) const = 0;
  /// Score of the larger of two classes minus the score of the other, for ROC curves; none for other tasks.
  [[nodiscard]] virtual std::optional<double> margin(View outputs) const = 0;
};

/// The target loss that `text` names: `mse`, the mean of (s_j − y_j)² over the targets with an output for each, or a
/// member of loss_table that is bounded below, with one target. A loss of several classes needs no number of classes:
/// it has as many as outputs. Throws UsageError for an unknown name, and for outputs and targets that do not go
/// together.
[[nodiscard]] std::unique_ptr<TargetLoss> make_target_loss(const std::string& text, std::size_t outputs,
                                                           std::size_t targets);
/// Outputs of a network that learns by the loss `text` and whose number of outputs is left open.
[[nodiscard]] std::size_t default_outputs(const std::string& text, std::size_t targets);
/// Throws UsageError for a text that names no target loss.
void check_target_loss(const std::string& text);
/// The target losses of one label, for help.
[[nodiscard]] const Table<Loss>& losses_of_one_label();

}  // namespace starling
