#include "starling/protocol/renewable/online_renewable.hpp"

#include <cmath>

#include "starling/core/numerics/kernels.hpp"

namespace starling {

namespace {

constexpr Round most_questions_at_start = 500;

}  // namespace

// Guo et al., Algorithm 1, with the start of docs/methods/renewable.md, "Corrections".
void OnlineRenewable::run(const std::vector<Observer*>& observers) {
  if (!state_) state_.emplace(RenewableState{theta_.value(), empty_curvature()});
  begin(observers);
  while (goes_on()) {
    read_batch();  // 4. D_b
    if (!started_ && settings_.safe_start) minimise_first_batch();
    MessageParts parts;
    parts.with_slopes = settings_.with_slopes;
    const Released<Vector> sums = ask(theta_.value(), parts);  // 5. gradients and curvatures of D_b at θ_{b−1}
    if (root_.aggregates()) renew(sums.value());               // 6. J, θ_b
    root_.broadcast(theta_);
    completed();
  }
}

void OnlineRenewable::read_batch() {
  for (std::size_t k = 0; k < clients_.count(); ++k) {
    clients_.begin(k, done_);
    timed(&TimeShares::learning, [&] { clients_.tally(k, theta_.value()); });
  }
}

void OnlineRenewable::persist(Snapshot& snapshot) {
  OpenRenewable::persist(snapshot);
  bool begun = state_.has_value();
  snapshot(begun, started_);
  snapshot.of_any_rank(start_was_shrunk_);
  if (!begun) return;
  if (!state_) state_.emplace(RenewableState{theta_.value(), empty_curvature()});
  snapshot.of_first_rank(root_.aggregates(), *state_);
}

Released<Vector> OnlineRenewable::ask(View theta, const MessageParts& parts) {
  return publish([&](std::size_t k) -> const Secret<Vector>& { return clients_.answer(k, theta, parts); });
}

/// `--start safe` (docs/methods/renewable.md, "Corrections"): at θ = 0 the loss has no curvature, and the first step
/// would have any length.
void OnlineRenewable::minimise_first_batch() {
  const Question question = [this](View theta, const MessageParts& parts) { return ask(theta, parts); };
  const auto on = [] { return true; };
  const Released<Vector> start = theta_;
  if (minimise(question, most_questions_at_start, settings_.penalty, "batch 1", on) != Outcome::converged) {
    check<DataError>(
        settings_.l2 > 0,
        "the first batch has no minimum: its classes can be separated, or it has one class only, and there is no "
        "penalty. Add a penalty with --l2, take larger batches, or use --start zero.");
    start_was_shrunk_ = true;
    theta_ = start;
    const Outcome outcome = minimise(question, most_questions_at_start, Penalty::full, "batch 1", on);
    check<DataError>(
        outcome == Outcome::converged,
        "the minimum over the first batch was not found in {} steps: --l2 {} hardly bounds it. Raise --l2, or use "
        "--start zero.",
        most_questions_at_start, settings_.l2);
  }
  started_ = true;
}

/// J ← ρJ + Σ H̄ + nλI, then the step.
void OnlineRenewable::renew(View total) {
  const MessageLayout at = places();
  const double n = total[at.records()];
  RenewableState& state = *state_;
  state.j.scale(settings_.forget);
  state.j.add(total.subspan(at.curvature(), at.triangles));
  state.j.add_identity(n * settings_.l2);
  state.records += n;
  if (settings_.with_slopes) {
    state.slopes.resize(at.triangles);
    axpy(1, total.subspan(at.curvature() + at.triangles), state.slopes);
  }
  if (n > 0) newton_step(total, n);
}

/// θ_b = θ_{b−1} − J⁻¹ (Σ ∇ℓ + nλPθ_{b−1}).
void OnlineRenewable::newton_step(View total, double n) {
  const MessageLayout at = places();
  RenewableState& state = *state_;
  Vector gradient = penalty_gradient(theta_.value(), n);
  axpy(1, total.first(at.dimension), gradient);
  const Vector step =
      timed(&TimeShares::mixing, [&] { return state.j.solve(gradient, fmt::format("batch {}", done_ + 1)); });
  theta_.update([&](Vector& theta) { axpy(-1, step, theta); });
  check<DataError>(std::isfinite(norm2(theta_.value())),
                   "batch {}: the model is not finite: the features are too large. Scale them, or raise --l2.",
                   done_ + 1);
  state.theta = theta_.value();
  // For squared losses without a penalty this is the sum of squares over all records so far at θ_b (recursive least
  // squares).
  state.residual += total[at.loss()] - dot(gradient, step) / 2;
  if (done_ > 0) state.later += Score{total[at.loss()], 0, static_cast<std::int64_t>(n)};
}

Vector OnlineRenewable::variances(Dispersion dispersion) const {
  if (!root_.aggregates()) return {};
  const RenewableState& state = *state_;
  const std::string where = "standard errors";
  check<DataError>(state.records > 0, "{}: there is no record yet.", where);
  BlockCurvature j = state.j;
  if (settings_.penalty == Penalty::slopes) {  // J has λI, as in (35), but the penalty leaves intercepts free
    j.add_identity(-state.records * settings_.l2);
    j.add_slopes(state.records * settings_.l2);
  }
  if (settings_.with_slopes) return j.sandwich_diagonal(state.slopes, where);
  Vector variances = j.inverse_diagonal(where);
  if (dispersion == Dispersion::squared) {
    const double free = state.records - static_cast<double>(model_.dimension());
    check<DataError>(
        free > 0,
        "{}: {} records for {} coefficients leave no degree of freedom for the dispersion. Take more records.", where,
        state.records, model_.dimension());
    scale(2 * state.residual / free, variances);
  }
  return variances;
}

bool OnlineRenewable::is_lost() const {
  if (!root_.aggregates() || !model_.classifies() || state_->later.records == 0) return false;
  return state_->later.loss >
         model_.loss_at_zero() * static_cast<double>(model_.classes()) * static_cast<double>(state_->later.records);
}

}  // namespace starling
