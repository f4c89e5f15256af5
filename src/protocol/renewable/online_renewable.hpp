/// Online renewable estimation, variant `online` (docs/methods/renewable.md, "Variants").
#pragma once

#include <optional>

#include "protocol/renewable/open_renewable.hpp"

namespace starling {

/// Scores of the intercepts over the batches after the start, from sums that rank 0 has.
struct BatchScores {
  double information = 0;  ///< mean Σ ℓ'' of a batch, the least of rare classes (p (1 − p) < 0.12); infinite without
  /// |Σ ℓ'| in standard errors over the second half of the batches, each at the model before it, of the class with
  /// most. Where the estimate has settled, Σ ℓ' has mean 0.
  double drift = 0;
  /// The greatest distance, in standard errors, by which a second look has moved a coefficient; none without a look.
  std::optional<double> moved = std::nullopt;
};

/// Algorithm 1 of Guo et al.: one Newton step on each batch, with the curvature of all batches so far. A step that
/// promises the impossible gives way to a search (docs/methods/renewable.md, "Corrections"). Construct, then call run()
/// once; the other members report.
class OnlineRenewable final : public OpenRenewable {
 public:
  using OpenRenewable::OpenRenewable;
  void run(const std::vector<Observer*>& observers) override;

  /// Dispersion φ of the model.
  enum class Dispersion {
    one,      ///< φ = 1 (Luo and Song 2020)
    squared,  ///< φ = Σ r² / (N − d), r being the residuals
  };
  /// On rank 0: estimated variances of the d coefficients, the diagonal of φ J⁻¹, or with settings.with_slopes of the
  /// sandwich J⁻¹ (Σ ℓ'² x̄x̄ᵀ) J⁻¹. Empty on other ranks. Throws DataError where J is singular.
  [[nodiscard]] Vector variances(Dispersion dispersion) const;
  /// On rank 0: φ by Dispersion::squared, which is the deviance over N − d. None without a degree of freedom.
  [[nodiscard]] std::optional<double> estimated_dispersion() const;
  /// On rank 0: the packed upper triangle of J⁻¹, of a model of one score. Empty on other ranks. Throws as variances().
  [[nodiscard]] Vector covariance() const;
  /// On rank 0, for classes: whether the batches after the start were predicted worse than by a model of zeros, by more
  /// than what an estimate from few records costs. The curvature was too flat, and the steps too long.
  [[nodiscard]] bool is_lost() const;
  /// On rank 0, for classes without a penalty: whether batches after the start were predicted with next to no loss.
  /// Where classes can be separated, nothing but the start's prior bounds the estimate.
  [[nodiscard]] bool is_of_separated_classes() const;
  /// On rank 0, after a batch beside the start: what batches say of intercepts. Σ ℓ' has the variance Σ ℓ'² with
  /// settings.with_slopes, else φ Σ ℓ''.
  [[nodiscard]] std::optional<BatchScores> batch_scores(Dispersion dispersion) const;
  /// Whether the first batch has no minimum of its own with λW, so that the start used λI.
  [[nodiscard]] bool start_was_shrunk() const { return start_was_shrunk_; }
  /// On rank 0: batches whose step gave way to a search.
  [[nodiscard]] std::int64_t searches() const { return state_ ? state_->searches : 0; }
  void persist(Snapshot& snapshot) override;

 private:
  [[nodiscard]] Released<Vector> ask(View theta, const MessageParts& parts);
  [[nodiscard]] MessageParts parts() const;
  void read_batch();
  void minimise_first_batch();
  [[nodiscard]] bool has_prior() const;
  void begin_with_prior();
  void renew(View total);
  void look_at_intercepts(View total);
  [[nodiscard]] bool is_guarded() const;
  [[nodiscard]] BlockCurvature determined(BlockCurvature j, double penalty) const;
  [[nodiscard]] Vector newton_step(const BlockCurvature& j, View gradient, double penalty);
  void add_batch(BlockCurvature j, View total);
  [[nodiscard]] double free_records() const;
  [[nodiscard]] double value_of(Dispersion dispersion) const;
  void take_step(View total, View gradient, View step);
  void search_batch();
  [[nodiscard]] RenewableState empty_state() const;
  void look_again();
  [[nodiscard]] bool ends_without_look() const;
  void take_back_look();
  [[nodiscard]] std::optional<SecondLook::Estimate> second_look() const;
  [[nodiscard]] BlockCurvature curvature_of_estimate() const;
  [[nodiscard]] std::optional<BatchScores> scores_of_intercepts(Dispersion dispersion) const;

  std::optional<RenewableState> state_;
  bool started_ = false;
  bool start_was_shrunk_ = false;
  bool has_looked_again_ = false;  ///< the model may be that of a second look, and not the state's
};

}  // namespace starling
