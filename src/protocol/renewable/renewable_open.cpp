#include "starling/protocol/renewable/renewable_open.hpp"

#include <algorithm>
#include <cmath>

#include "starling/core/numerics/kernels.hpp"

namespace starling {

namespace {

constexpr Round most_questions_at_start = 500;

}  // namespace

OpenRenewable::OpenRenewable(Root& root, RenewableClients& clients, CurvedModel& model,
                             const RenewableSettings& settings, const Released<Vector>& start,
                             const OpenChannel& channel)
    : Renewable(root, clients, model, settings, start), channel_(channel) {}

Released<Vector> OpenRenewable::publish(const std::function<const Secret<Vector>&(std::size_t k)>& message) {
  Released<Vector> published = declare_public(Vector());
  return root_.sum(
      places().size(),
      [&](std::size_t k) -> const Released<Vector>& {
        const ReleaseAddress address{ReleasePath::renewable_message, root_.first() + static_cast<Client>(k), done_, 0};
        timed(&TimeShares::learning, [&] {
          channel_.mechanism.release(address, channel_.mechanism.settings().price.most, clients_.key(k), message(k),
                                     published);
        });
        return published;
      },
      channel_.codec);
}

Expansion OpenRenewable::expansion(View theta, View total) const {
  const MessageLayout at = places();
  const double records = total[at.records()];
  Expansion result{total[at.loss()] + penalty_value(theta, records), penalty_gradient(theta, records),
                   empty_curvature()};
  axpy(1, total.first(at.dimension), result.gradient);
  result.curvature.add(total.subspan(at.curvature(), at.triangles));
  add_penalty(result.curvature, records);
  return result;
}

/// Without a penalty, classes that can be separated (at a point of the search: all losses together are less than one
/// record's at a score of 0, so that every record is on its right side) are told apart better and better for ever by
/// longer coefficients; so are some records where only they can be.
void OpenRenewable::require_minimum(const SafeguardedNewton& search, const std::string& where) const {
  if (settings_.l2 > 0 || !model_.classifies()) return;
  const bool separated = *objective_ < model_.loss_at_zero();
  check<DataError>(!separated && (!search.converged() || search.is_minimum()),
                   "{}: the classes (or some records of them) can be separated, or there is one class only, so that "
                   "without a penalty there is no minimum add one with --l2, or take larger batches",
                   where);
}

// Rank 0 leads: it broadcasts (what to do, the point that is asked about, the best one so far).
OpenRenewable::Outcome OpenRenewable::minimise(const Question& ask, Round most, Penalty penalty,
                                               const std::string& where, const std::function<bool()>& after) {
  constexpr double done = 0;
  constexpr double go_on = 1;
  const std::size_t d = model_.dimension();
  const Penalty kept = std::exchange(settings_.penalty, penalty);
  std::optional<SafeguardedNewton> search;  // rank 0's
  Released<Vector> order = declare_public(Vector(1 + 2 * d));
  Outcome outcome = Outcome::exhausted;
  for (Round asked = 0; asked < most; ++asked) {
    const bool first = asked == 0;
    const Released<Vector> point =
        first ? theta_
              : post_process(
                    [d](const Vector& o) {
                      return Vector(o.begin() + 1, o.begin() + 1 + static_cast<std::ptrdiff_t>(d));
                    },
                    order);
    MessageParts parts;
    parts.with_slopes = settings_.with_slopes;
    if (first) parts.curvature = CurvedModel::Weight::majoriser;
    const Released<Vector> total = ask(point.value(), parts);
    if (root_.aggregates()) {
      Expansion here = expansion(point.value(), total.value());
      if (first) {
        search.emplace(point.value(), here.curvature, where);
      }
      timed(&TimeShares::mixing, [&] { search->take(std::move(here)); });
      objective_ = search->value();
      require_minimum(*search, where);
      order.update([&](Vector& o) {
        o[0] = search->converged() ? done : go_on;
        std::copy(search->point().begin(), search->point().end(), o.begin() + 1);
        std::copy(search->best().begin(), search->best().end(), o.begin() + 1 + static_cast<std::ptrdiff_t>(d));
      });
    }
    root_.broadcast(order);
    theta_ = post_process(
        [d](const Vector& o) { return Vector(o.begin() + 1 + static_cast<std::ptrdiff_t>(d), o.end()); }, order);
    if (order.value()[0] == done) {
      outcome = Outcome::converged;
      after();
      break;
    }
    if (!after()) {
      outcome = Outcome::stopped;
      break;
    }
  }
  settings_.penalty = kept;
  return outcome;
}

// Algorithm 1.
void OnlineRenewable::run(const std::vector<Observer*>& observers) {
  if (!state_) state_.emplace(RenewableState{theta_.value(), empty_curvature()});
  begin(observers);
  while (goes_on()) {
    for (std::size_t k = 0; k < clients_.count(); ++k) {  // 4. read in D_b
      clients_.begin(k, done_);
      timed(&TimeShares::learning, [&] { clients_.tally(k, theta_.value()); });
    }
    if (!started_ && settings_.safe_start) minimise_first_batch();
    renew();
    completed();
  }
}

void OnlineRenewable::persist(Snapshot& snapshot) {
  OpenRenewable::persist(snapshot);
  bool begun = state_.has_value();
  snapshot(begun, started_, start_was_shrunk_);
  if (!begun) return;
  if (!state_) state_.emplace(RenewableState{theta_.value(), empty_curvature()});
  snapshot(*state_);
}

Released<Vector> OnlineRenewable::ask(View theta, const MessageParts& parts) {
  return publish([&](std::size_t k) -> const Secret<Vector>& { return clients_.answer(k, theta, parts); });
}

// The start of method 3: where θ = 0 is, the loss is a straight line, and the first step would go anywhere.
void OnlineRenewable::minimise_first_batch() {
  const Question question = [this](View theta, const MessageParts& parts) { return ask(theta, parts); };
  const auto on = [] { return true; };
  const Released<Vector> start = theta_;
  if (minimise(question, most_questions_at_start, settings_.penalty, "batch 1", on) != Outcome::converged) {
    check<DataError>(
        settings_.l2 > 0,
        "the first batch has no minimum (its classes can be separated, or it has one class only, and there "
        "is no penalty) add one with --l2, take larger batches, or --start zero");
    start_was_shrunk_ = true;
    theta_ = start;
    const Outcome outcome = minimise(question, most_questions_at_start, Penalty::full, "batch 1", on);
    check<DataError>(outcome == Outcome::converged,
                     "the minimum over the first batch was not found after {} steps (--l2 {} hardly bounds it) raise "
                     "--l2, or --start zero",
                     most_questions_at_start, settings_.l2);
  }
  started_ = true;
}

void OnlineRenewable::renew() {
  MessageParts parts;
  parts.with_slopes = settings_.with_slopes;
  const MessageLayout at = places();
  const Released<Vector> sums = ask(theta_.value(), parts);  // 5. gradient and curvature of D_b at θ_{b−1}
  if (root_.aggregates()) {                                  // 6.
    const View total = sums.value();
    const double n = total[at.records()];
    RenewableState& state = *state_;
    // J ← ρ J + Σ H̄ + nλI
    state.j.scale(settings_.forget);
    state.j.add(total.subspan(at.curvature(), at.triangles));
    state.j.add_identity(n * settings_.l2);
    state.records += n;
    const double batch_loss = total[at.loss()];
    if (settings_.with_slopes) {
      state.slopes.resize(at.triangles);
      axpy(1, total.subspan(at.curvature() + at.triangles), state.slopes);
    }
    // θ_b = θ_{b−1} − J⁻¹ (Σ ∇ℓ + nλPθ_{b−1})
    if (n > 0) {
      Vector gradient = penalty_gradient(theta_.value(), n);
      axpy(1, total.first(at.dimension), gradient);
      const Vector step =
          timed(&TimeShares::mixing, [&] { return state.j.solve(gradient, fmt::format("batch {}", done_ + 1)); });
      theta_.update([&](Vector& theta) { axpy(-1, step, theta); });
      check<DataError>(std::isfinite(norm2(theta_.value())),
                       "batch {}: the model is not finite (the features are too large) scale them, or raise --l2",
                       done_ + 1);
      state.theta = theta_.value();
      // Of squared losses without penalty this is the sum of squares over all records so far at θ_b (recursive least
      // squares).
      state.residual += batch_loss - dot(gradient, step) / 2;
      if (done_ > 0) state.later += Score{batch_loss, 0, static_cast<std::int64_t>(n)};
    }
  }
  root_.broadcast(theta_);
}

Vector OnlineRenewable::variances(Dispersion dispersion) const {
  if (!root_.aggregates()) return {};
  const RenewableState& state = *state_;
  const std::string where = "standard errors";
  check<DataError>(state.records > 0, "{}: there is no record yet", where);
  BlockCurvature j = state.j;
  if (settings_.penalty == Penalty::slopes) {  // J has λI, as (35) has it, but the penalty leaves intercepts free
    j.add_identity(-state.records * settings_.l2);
    j.add_slopes(state.records * settings_.l2);
  }
  if (settings_.with_slopes) return j.sandwich_diagonal(state.slopes, where);
  Vector variances = j.inverse_diagonal(where);
  if (dispersion == Dispersion::squared) {
    const double free = state.records - static_cast<double>(model_.dimension());
    check<DataError>(free > 0, "{}: {} records of {} coefficients leave nothing to estimate the spread from", where,
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

OfflineRenewable::OfflineRenewable(Root& root, RenewableClients& clients, CurvedModel& model,
                                   const RenewableSettings& settings, const Released<Vector>& start,
                                   const OpenChannel& channel, Steps steps)
    : OpenRenewable(root, clients, model, settings, start, channel), steps_(steps) {}

void OfflineRenewable::run(const std::vector<Observer*>& observers) {
  begin(observers);
  if (!goes_on()) return;
  if (steps_ == Steps::one) {
    take_one_step();
    completed();
    return;
  }
  const auto question = [this](View theta, const MessageParts& parts) { return ask(theta, parts); };
  const auto after = [&] {
    completed();
    return goes_on();
  };
  converged_ = minimise(question, settings_.rounds, settings_.penalty, "all batches", after) == Outcome::converged;
}

Released<Vector> OfflineRenewable::ask(View theta, const MessageParts& parts) {
  Released<Vector> sums = publish([&](std::size_t k) -> const Secret<Vector>& {
    return clients_.answer_pass(k, pass_, theta, parts, [this] { root_.still_here(); });
  });
  ++pass_;
  return sums;
}

// (16) from the start, which at θ = 0 of dwd gives the centroid classifier Σ y x̄ / (nλ).
void OfflineRenewable::take_one_step() {
  const MessageLayout at = places();
  const Released<Vector> sums = ask(theta_.value(), {});
  if (root_.aggregates()) {
    const View total = sums.value();
    const double n = total[at.records()];
    BlockCurvature curvature = empty_curvature();
    curvature.add(total.subspan(at.curvature(), at.triangles));
    curvature.add_identity(n * settings_.l2);
    Vector gradient = penalty_gradient(theta_.value(), n);
    axpy(1, total.first(at.dimension), gradient);
    const Vector step = curvature.solve(gradient, "the one step");
    theta_.update([&](Vector& theta) { axpy(-1, step, theta); });
  }
  root_.broadcast(theta_);
}

}  // namespace starling
