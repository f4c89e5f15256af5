/// Losses of all outputs of a network together, against one or several numbers of a record (method 5).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "starling/core/columns.hpp"

namespace starling {

/// A loss ℓ(s, y) of K outputs s and the targets y of a record. What is learned goes down its mean over records.
class TargetLoss {
 public:
  virtual ~TargetLoss() = default;
  /// K, and how many numbers y has.
  [[nodiscard]] virtual std::size_t outputs() const = 0;
  [[nodiscard]] virtual std::size_t targets() const = 0;
  /// Whether targets are classes, so that predictions can be right or wrong.
  [[nodiscard]] virtual bool classifies() const = 0;
  /// The loss's own target for one of the data. Throws DataError for one outside its set, saying what the set is.
  [[nodiscard]] virtual double label(double raw) const = 0;
  [[nodiscard]] virtual double value(View outputs, View targets) const = 0;
  /// ∂ℓ/∂s into `derivative` (K entries).
  virtual void derivative(View outputs, View targets, MutableView derivative) const = 0;
  /// Whether the class that the outputs predict is the target. Only for losses that classify.
  [[nodiscard]] virtual bool correct(View outputs, View targets) const = 0;
  /// Of two classes: how much more the outputs speak for the larger one, for ROC curves; none for other tasks.
  [[nodiscard]] virtual std::optional<double> margin(View outputs) const = 0;
};

/// `text` is `mse`, the mean of (s_j − y_j)² over the targets, an output for each; or a member of loss_table, with one
/// target: `softmax` needs no number of classes, there are as many as outputs. Throws UsageError for another text, and
/// for `outputs` and `targets` that do not go together.
[[nodiscard]] std::unique_ptr<TargetLoss> make_target_loss(const std::string& text, std::size_t outputs,
                                                           std::size_t targets);

}  // namespace starling
