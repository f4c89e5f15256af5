#include "protocol/renewable/online_renewable.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/numerics/gram.hpp"
#include "core/numerics/kernels.hpp"
#include "net/root/root.hpp"

namespace starling {

namespace {

constexpr Round most_questions = 500;
constexpr double loss_of_separated = 0.04;  ///< of a record, as a part of that at score 0
constexpr double most_drift_of_look = 5;    ///< standard errors of the scores of an intercept
constexpr std::size_t most_groups = 128;    ///< of batches, an even number
constexpr double of_rare_class = 0.12;      ///< mean p (1 - p) of a record, where the class is rarer

}  // namespace

// Guo et al., Algorithm 1, with the start of docs/methods/renewable.md, "Corrections".
void OnlineRenewable::run(const std::vector<Observer*>& observers) {
  if (!state_) state_.emplace(empty_state());
  begin(observers);
  while (goes_on()) {
    take_back_look();
    read_batch();  // 4. D_b
    if (!started_ && settings_.safe_start) {
      started_ = true;
      if (has_prior()) {
        begin_with_prior();
        search_batch();
        completed();
        continue;
      }
      minimise_first_batch();
    }
    const Released<Vector> sums = ask(theta_.value(), parts());  // 5. gradients and curvatures of D_b at θ_{b−1}
    if (root_.aggregates()) renew(sums.value());                 // 6. J, θ_b
    root_.broadcast(theta_);
    if (std::isnan(theta_.value()[0])) {
      search_batch();
      if (root_.aggregates()) ++state_->searches;
    }
    if (settings_.looks_again && is_last()) look_again();
    completed();
  }
  if (ends_without_look()) look_again();
}

/// A run that was cut off may be told to end where it has come to.
bool OnlineRenewable::ends_without_look() const {
  return settings_.looks_again && !has_looked_again_ && done_ == settings_.rounds && (done_ > 1 || !has_prior());
}

RenewableState OnlineRenewable::empty_state() const {
  return {theta_.value(), empty_curvature(), SecondLook(model_.classes(), model_.order())};
}

/// The model becomes that of a second look, if there is one. The state keeps its own, from which later batches go on.
void OnlineRenewable::look_again() {
  has_looked_again_ = true;
  if (const auto found = second_look()) theta_.update([&](Vector& theta) { theta = found->theta; });
  root_.broadcast(theta_);
}

/// Before another batch.
void OnlineRenewable::take_back_look() {
  if (!std::exchange(has_looked_again_, false)) return;
  if (root_.aggregates()) theta_.update([&](Vector& theta) { theta = state_->theta; });
  root_.broadcast(theta_);
}

/// Rank 0's. Late batches tell nothing of early ones where the estimate has not settled, as of records in some order.
std::optional<SecondLook::Estimate> OnlineRenewable::second_look() const {
  if (!has_looked_again_ || !root_.aggregates() || is_lost() || is_of_separated_classes()) return std::nullopt;
  const std::optional<BatchScores> scores = scores_of_intercepts(Dispersion::one);
  if (!scores || scores->drift > most_drift_of_look) return std::nullopt;
  BlockCurvature known = state_->j;
  known.add(state_->look.curvature(), -1);
  return state_->look.estimate(known);
}

BlockCurvature OnlineRenewable::curvature_of_estimate() const {
  const auto found = second_look();
  return found ? found->curvature : state_->j;
}

MessageParts OnlineRenewable::parts() const {
  MessageParts parts;
  parts.with_slopes = settings_.with_slopes;
  return parts;
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
  snapshot(start_was_shrunk_, has_looked_again_);
  if (!begun) return;
  if (!state_) state_.emplace(empty_state());
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
  if (minimise(question, most_questions, settings_.penalty, "batch 1", on) != Outcome::converged) {
    start_was_shrunk_ = true;
    theta_ = start;
    const Outcome outcome = minimise(question, most_questions, Penalty::full, "batch 1", on);
    check<DataError>(
        outcome == Outcome::converged,
        "the minimum over the first batch was not found in {} steps: --l2 {} hardly bounds it. Raise --l2, or use "
        "--start zero.",
        most_questions, settings_.l2);
  }
}

/// Whether the start has a prior: without a penalty a batch of classes that can be separated has no minimum, and one of
/// classes that can nearly be separated has it far away.
bool OnlineRenewable::has_prior() const {
  return settings_.l2 == 0 && model_.classifies();
}

/// J_0 is the greatest curvature of one mean record of the first batch, about θ = 0: the prior of unit information
/// (Kass and Wasserman 1995), which has the same weight in all units of features.
void OnlineRenewable::begin_with_prior() {
  MessageParts majoriser = parts();
  majoriser.curvature = CurvedModel::Weight::majoriser;
  theta_ = declare_public(Vector(model_.dimension()));
  const Released<Vector> sums = ask(theta_.value(), majoriser);
  if (!root_.aggregates()) return;
  const View total = sums.value();
  const MessageLayout at = places();
  state_->theta = theta_.value();
  state_->j.add(total.subspan(at.curvature(), at.triangles));
  state_->j.scale(1 / total[at.records()]);
  static_cast<void>(state_->j.solve(Vector(model_.dimension()), "batch 1"));  // says why it has no minimum
}

/// Whether impossible steps give way to a search. `--start zero --penalty full` is the publication's algorithm.
bool OnlineRenewable::is_guarded() const {
  return model_.classifies() && (settings_.safe_start || settings_.penalty == Penalty::slopes);
}

/// J ← ρJ + Σ H̄ + nλP, then the step, unless it promises to lower the batch's objective F below 0, which no model
/// does: J is too flat then, and NaN in place of a model asks all ranks for a search.
void OnlineRenewable::renew(View total) {
  const MessageLayout at = places();
  const double n = total[at.records()];
  RenewableState& state = *state_;
  state.j.scale(settings_.forget);
  BlockCurvature j = state.j;
  j.add(total.subspan(at.curvature(), at.triangles));
  add_penalty(j, n * l2());
  if (n == 0) return add_batch(std::move(j), total);
  Vector gradient = penalty_gradient(theta_.value(), n * l2());
  axpy(1, total.first(at.dimension), gradient);
  look_at_intercepts(total);
  const Vector step = timed(&TimeShares::mixing, [&] { return newton_step(j, gradient, state.penalty + n * l2()); });
  const double least = total[at.loss()] + penalty_value(theta_.value(), n * l2()) - dot(gradient, step) / 2;
  if (is_guarded() && state.records > 0 && least < 0) {
    theta_.update([](Vector& theta) { theta.assign(theta.size(), std::nan("")); });
    return;
  }
  add_batch(std::move(j), total);
  take_step(total, gradient, step);
}

/// Adds a batch to the sums of intercepts.
void OnlineRenewable::look_at_intercepts(View total) {
  if (done_ == 0 && settings_.safe_start) return;
  const MessageLayout at = places();
  const std::size_t order = model_.order();
  RenewableState& state = *state_;
  Vector& sums = state.intercepts;
  const std::size_t size = 3 * model_.classes();
  if (sums.size() == most_groups * size && state.batches % state.group == 0) {
    for (std::size_t i = 0; i < sums.size() / 2; ++i) {
      const std::size_t first = i / size * 2 * size + i % size;
      sums[i] = sums[first] + sums[first + size];
    }
    sums.resize(sums.size() / 2);
    state.group *= 2;
  }
  if (state.batches % state.group == 0) sums.resize(sums.size() + size);
  ++state.batches;
  for (std::size_t k = 0; k < model_.classes(); ++k) {
    const std::size_t last = at.curvature() + (k + 1) * triangle_size(order) - 1;
    const MutableView own = MutableView(sums).last(size).subspan(3 * k, 3);
    own[0] += total[last];
    own[1] += total[(k + 1) * order - 1];
    if (settings_.with_slopes) own[2] += total[last + at.triangles];
  }
}

std::optional<BatchScores> OnlineRenewable::batch_scores(Dispersion dispersion) const {
  std::optional<BatchScores> scores = scores_of_intercepts(dispersion);
  if (const auto found = second_look()) {
    const Vector variances = found->curvature.inverse_diagonal("standard errors");
    double most = 0;
    for (std::size_t i = 0; i < variances.size(); ++i)
      most = std::max(most, std::abs(found->theta[i] - state_->theta[i]) / std::sqrt(variances[i]));
    scores->moved = most;
  }
  return scores;
}

std::optional<BatchScores> OnlineRenewable::scores_of_intercepts(Dispersion dispersion) const {
  if (!root_.aggregates() || state_->batches == 0 || free_records() <= 0) return std::nullopt;
  const double phi = value_of(dispersion);
  BatchScores scores{std::numeric_limits<double>::infinity(), 0};
  for (std::size_t k = 0; k < model_.classes(); ++k) {
    double all = 0;
    Vector late(3);
    Round first = 0;
    for (std::size_t i = 3 * k; i < state_->intercepts.size(); i += 3 * model_.classes()) {
      const View own = View(state_->intercepts).subspan(i, 3);
      all += own[0];
      if (2 * first + 1 >= state_->batches) axpy(1, own, late);
      first += state_->group;
    }
    const bool rare = model_.classifies() && all < of_rare_class * state_->records;
    if (rare) scores.information = std::min(scores.information, all / static_cast<double>(state_->batches));
    const double variance = settings_.with_slopes ? late[2] : phi * late[0];
    if (variance > 0) scores.drift = std::max(scores.drift, std::abs(late[1]) / std::sqrt(variance));
  }
  return scores;
}

double OnlineRenewable::free_records() const {
  return state_->records - static_cast<double>(model_.dimension());
}

/// φ.
double OnlineRenewable::value_of(Dispersion dispersion) const {
  if (dispersion == Dispersion::one) return 1;
  const double residual = state_->objective - penalty_value(state_->theta, state_->penalty);
  return 2 * std::max(residual, 0.0) / free_records();
}

/// J⁻¹ ∇F.
Vector OnlineRenewable::newton_step(const BlockCurvature& j, View gradient, double penalty) {
  if (auto step = j.try_solve(gradient)) return *std::move(step);
  return determined(j, penalty).solve(gradient, fmt::format("batch {}", done_ + 1));
}

/// J, or J + Nλ(I − P), N λ = `penalty`, where no record has told an intercept's curvature yet, and a penalty on slopes
/// leaves it free.
BlockCurvature OnlineRenewable::determined(BlockCurvature j, double penalty) const {
  if (settings_.penalty == Penalty::full || j.try_solve(Vector(model_.dimension()))) return j;
  j.add_identity(penalty);
  j.add_slopes(-penalty);
  return j;
}

/// The batch belongs to the state: `j` has its curvature.
void OnlineRenewable::add_batch(BlockCurvature j, View total) {
  const MessageLayout at = places();
  RenewableState& state = *state_;
  state.j = std::move(j);
  if (settings_.looks_again) {
    state.look.add(total.first(at.dimension), theta_.value(), total.subspan(at.curvature(), at.triangles),
                   total[at.records()]);
  }
  state.records += total[at.records()];
  state.penalty += total[at.records()] * l2();
  if (!settings_.with_slopes) return;
  state.slopes.resize(at.triangles);
  axpy(1, total.subspan(at.curvature() + at.triangles), state.slopes);
}

/// θ_b = θ_{b−1} − J⁻¹ (Σ ∇ℓ + nλPθ_{b−1}).
void OnlineRenewable::take_step(View total, View gradient, View step) {
  const MessageLayout at = places();
  RenewableState& state = *state_;
  // For squared losses this is the minimum of the objective over all records so far (recursive least squares).
  state.objective +=
      total[at.loss()] + penalty_value(theta_.value(), total[at.records()] * l2()) - dot(gradient, step) / 2;
  theta_.update([&](Vector& theta) { axpy(-1, step, theta); });
  check<DataError>(std::isfinite(norm2(theta_.value())),
                   "batch {}: the model is not finite: the features are too large. Scale them, or raise --l2.",
                   done_ + 1);
  state.theta = theta_.value();
  if (done_ > 0) state.later += Score{total[at.loss()], 0, static_cast<std::int64_t>(total[at.records()])};
}

/// θ_b minimises ½ (θ − θ_{b−1})ᵀ J_{b−1} (θ − θ_{b−1}) + F(θ) over this batch, whose curvature is taken there.
void OnlineRenewable::search_batch() {
  std::optional<Earlier> earlier;
  if (root_.aggregates()) earlier = Earlier{determined(state_->j, state_->penalty), state_->theta};
  theta_ = declare_public(Vector(model_.dimension()));
  const Question question = [this](View theta, const MessageParts& parts) { return ask(theta, parts); };
  static_cast<void>(minimise(
      question, most_questions, settings_.penalty, fmt::format("batch {}", done_ + 1), [] { return true; }, earlier));
  const Released<Vector> sums = ask(theta_.value(), parts());
  if (!root_.aggregates()) return;
  const View total = sums.value();
  const MessageLayout at = places();
  BlockCurvature j = state_->j;
  j.add(total.subspan(at.curvature(), at.triangles));
  add_penalty(j, total[at.records()] * l2());
  add_batch(std::move(j), total);
  state_->theta = theta_.value();
  state_->later = {};
}

Vector OnlineRenewable::variances(Dispersion dispersion) const {
  if (!root_.aggregates()) return {};
  const RenewableState& state = *state_;
  const std::string where = "standard errors";
  check<DataError>(state.records > 0, "{}: there is no record yet.", where);
  const BlockCurvature j = curvature_of_estimate();
  if (settings_.with_slopes) return j.sandwich_diagonal(state.slopes, where);
  Vector variances = j.inverse_diagonal(where);
  if (dispersion == Dispersion::squared) {
    check<DataError>(
        free_records() > 0,
        "{}: {} records for {} coefficients leave no degree of freedom for the dispersion. Take more records.", where,
        state.records, model_.dimension());
    scale(value_of(dispersion), variances);
  }
  return variances;
}

std::optional<double> OnlineRenewable::estimated_dispersion() const {
  if (!root_.aggregates() || free_records() <= 0) return std::nullopt;
  return value_of(Dispersion::squared);
}

Vector OnlineRenewable::covariance() const {
  return root_.aggregates() ? curvature_of_estimate().inverse_triangle("standard errors") : Vector();
}

bool OnlineRenewable::is_of_separated_classes() const {
  if (!root_.aggregates() || !has_prior() || state_->later.records == 0) return false;
  return state_->later.loss < loss_of_separated * model_.loss_at_zero() * static_cast<double>(state_->later.records);
}

/// A maximum-likelihood estimate of d coefficients from N_0 records that is renewed up to N records costs some
/// d/2 ln(N/N_0) on the way. Four times as much is allowed, and 2d for a first batch that it fits too well.
bool OnlineRenewable::is_lost() const {
  if (!root_.aggregates() || !model_.classifies() || state_->later.records == 0) return false;
  const auto later = static_cast<double>(state_->later.records);
  const double before = std::max(1.0, state_->records - later);
  const double cost = 2 * static_cast<double>(model_.dimension()) * (1 + std::log1p(later / before));
  return state_->later.loss > model_.loss_at_zero() * static_cast<double>(model_.classes()) * later + cost;
}

}  // namespace starling
