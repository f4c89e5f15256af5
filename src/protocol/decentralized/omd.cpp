#include "protocol/decentralized/omd.hpp"

#include <algorithm>
#include <limits>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "model/model.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/mechanism.hpp"
#include "protocol/bounded_model.hpp"
#include "protocol/constraints/long_term_constraints.hpp"
#include "protocol/naming_client.hpp"
#include "protocol/observer.hpp"

namespace starling {

namespace {

/// The mirror states of models. Most maps take the models themselves as states, and then nothing is copied.
Released<Columns> embedded(const MirrorMap& mirror, Released<Columns> models) {
  const std::size_t d = models.value().rows();
  const std::size_t size = mirror.state_size(d);
  if (size == d) return models;
  return post_process(
      [&](const Columns& each) {
        Columns states(size, each.size());
        for (std::size_t k = 0; k < each.size(); ++k) mirror.embed(each[k], states[k]);
        return states;
      },
      models);
}

}  // namespace

DecentralizedOmd::DecentralizedOmd(Mixer& mixer, MirrorMap& mirror, std::optional<Learning> learning,
                                   const OmdSettings& settings, Released<Columns> start)
    : mixer_(mixer),
      mirror_(mirror),
      learning_(std::move(learning)),
      settings_(settings),
      dimension_(start.value().rows()),
      due_(settings, settings.rounds),
      debt_(mixer.count(), settings.step_cap * settings.first_step()),
      holdings_{embedded(mirror, std::move(start)), Vector(mixer.count(), 1.0)},
      mixed_(settings_.plays_mixed ? mixer.count() : 0, declare_public(Vector())),
      positive_(learning_ ? mirror.least_coordinate() : 0),
      learns_(mixer.count(), 0),
      stepped_(mixer.count(), 0),
      played_(mixer.count()),
      noisy_gradient_(declare_public(Vector(dimension_))),
      scratch_(dimension_),
      shown_(dimension_) {
  check(holdings_.state.value().size() == mixer.count(), "{} start models for {} clients: each client needs one.",
        holdings_.state.value().size(), mixer.count());
}

Vector DecentralizedOmd::debts_in_first_steps() const {
  Vector steps(debts().begin(), debts().end());
  if (settings_.falls_to_zero()) return steps;
  for (double& owed : steps) owed /= settings_.step_at(0);
  return steps;
}

// docs/methods/decentralized.md, "One round".
void DecentralizedOmd::run(const std::vector<Observer*>& observers) {
  using Calls = ObserverList::Calls;
  ObserverList observing(observers, mixer_.has_all_in_step() ? Calls::when_due : Calls::every_round);
  if (played_rounds_ == 0) observing.notify(*this);  // a resumed run has shown its state before
  if (played_rounds_ < settings_.first_round) {
    leave_out(settings_.first_round);
    observing.notify(*this);  // starts are the models of the rounds before
  }
  if (!closed_ && played_rounds_ == settings_.rounds) {  // the others were left out
    Stopwatch watch = Stopwatch::of_round(played_rounds_);
    close(watch);
  }
  while (begin_round()) {
    const Round t = played_rounds_;
    Stopwatch watch = Stopwatch::of_round(t);
    due_.begin_round(mixer_.clock());  // η_t
    for (std::size_t k = 0; k < holdings_.mass.size(); ++k) {
      const std::optional<double> price = pay(k, t);
      if (!price) {
        release_zeros(k, t);
        continue;
      }
      const View x = model_to_play(k);
      const Secret<Batch>& batch = learning_->streams[k]->next(t);
      play(k, t, x, batch);             // 1. f_u,t(x_u,t), g_u,t
      release(k, t, x, batch, *price);  // 2. ĝ_u,t
      step(k);                          // 3. z_u
    }
    if (learning_ && learning_->constraints != nullptr) learning_->constraints->agree(settings_.step_at(t));
    watch.lap(shares_.learning);
    keeping_positive([&] { mixer_.mix(holdings_, watch, shares_); });  // 4. x_u,t+1 and w_u
    if (t + 1 == settings_.rounds) close(watch);
    ++played_rounds_;
    observing.notify(*this);
    watch.lap(shares_.observing);
  }
  keeping_positive([&] { mixer_.finish(holdings_); });
  write_off();
}

/// False once this rank has played all rounds, or the fastest rank has: the others step no more then, and models would
/// lean towards the clients that went on.
bool DecentralizedOmd::begin_round() {
  if (played_rounds_ == settings_.rounds || done() == settings_.rounds) return false;
  return mixer_.begin_round(played_rounds_);
}

/// Whether client k can take a step in this round: its stream goes on, and it takes part.
bool DecentralizedOmd::may_step(std::size_t k) {
  return learning_ && !learning_->streams[k]->ended(played_rounds_) && takes_part(k);
}

bool DecentralizedOmd::takes_part(std::size_t k) const {
  switch (mixer_.attendance(k)) {
    case Attendance::present:
      return true;
    case Attendance::absent:
      return settings_.absent == OmdSettings::Absent::steps;
    case Attendance::gone:
      return false;
  }
  return false;
}

/// Price of client k's release in round t; none if it takes no step.
std::optional<double> DecentralizedOmd::pay(std::size_t k, Round t) {
  stepped_[k] = 0;
  if (due_.too_late()) return std::nullopt;
  learns_[k] = may_step(k) ? 1 : 0;
  if (learns_[k] == 0) return std::nullopt;
  const std::optional<double> price = learning_->accounts.pay(k, t);
  if (!price) {  // the budget has ended
    debt_.forgive(k);
    learns_[k] = 0;
  }
  return price;
}

View DecentralizedOmd::model_to_play(std::size_t k) {
  const Columns& states = holdings_.state.value();
  if (!settings_.plays_mixed) return mirror_.model(states[k], scratch_);
  Released<Vector>& mixed = mixed_[k];
  if (mixed.value().empty() && mixer_.attendance(k) == Attendance::absent) {
    mixed = post_process([k](const Columns& all) { return Vector(all[k].begin(), all[k].end()); }, holdings_.state);
  }
  return mirror_.model(mixed.value().empty() ? states[k] : View(mixed.value()), scratch_);
}

/// Scores x on the batch before it is learned from, and sums the clipped gradients at x.
void DecentralizedOmd::play(std::size_t k, Round t, View x, const Secret<Batch>& batch) {
  if (learning_->constraints != nullptr) learning_->constraints->arrive(k, x);
  const Mechanism& mechanism = learning_->mechanism;
  const auto evaluate = [&](Vector& gradient, Score& tally, double& played, const Batch& records) {
    Score score = learning_->model.evaluate(x, records, mechanism.clip(), gradient);
    const double penalty = settings_.l2.value(x);
    played += factor(k) * score.loss / static_cast<double>(mechanism.settings().batch) + settings_.l2_share * penalty;
    score.loss += penalty * static_cast<double>(score.records);
    tally += score;
  };
  require_bounded_model(x, learning_->model.largest_parameter(), client(k), t);
  naming_client(client(k), t, [&] { apply(evaluate, gradient_, played_.tallies[k], played_.objectives[k], batch); });
}

/// The noisy mean of clipped gradients (docs/methods/privacy.md, "One release"), times the client's public factor.
/// Returns its address.
ReleaseAddress DecentralizedOmd::add_noise(std::size_t k, Round t, double price) {
  const ReleaseAddress address{ReleasePath::omd_gradient, client(k), t, 0};
  learning_->mechanism.release(address, price, learning_->keys[k], gradient_, noisy_gradient_);
  if (factor(k) != 1) noisy_gradient_.update([&](Vector& gradient) { scale(factor(k), gradient); });
  return address;
}

/// ĝ = noisy mean + λx, and with constraints the gradient of the Lagrangian (docs/methods/constraints.md).
void DecentralizedOmd::release(std::size_t k, Round t, View x, const Secret<Batch>& batch, double price) {
  const ReleaseAddress address = add_noise(k, t, price);
  played_.rounds[k].add(t);
  noisy_gradient_.update([&](Vector& gradient) { settings_.l2.add_gradient(settings_.l2_share, x, gradient); });
  if (learning_->constraints == nullptr) return;
  learning_->constraints->bend(k, address, price, learning_->keys[k], settings_.step_at(t), x, batch, noisy_gradient_);
}

/// A step of noise alone, which other clients' noise takes away: of a client whose records or budget have ended, under
/// noise between pairs.
void DecentralizedOmd::release_zeros(std::size_t k, Round t) {
  if (!learning_ || !takes_part(k)) return;
  const std::optional<double> price = learning_->accounts.price_of_zeros(k, t);
  if (!price) return;
  gradient_.update([this](Vector& gradient) { gradient.assign(dimension_, 0.0); });
  static_cast<void>(add_noise(k, t, *price));
  step(k);
}

/// ∇R(y) = ∇R(x) − (η_t / w) ĝ,  z = argmin over x in X of B_R(x ‖ y).
void DecentralizedOmd::step(std::size_t k) {
  stepped_[k] = 1;
  const double length = debt_.take(k, due_.due(), holdings_.mass[k], due_.worth());
  if (due_.forgives()) debt_.forgive(k);
  holdings_.state.update([&](Columns& state, const Vector& gradient) { mirror_.step(state[k], length, gradient); },
                         noisy_gradient_);
  if (settings_.plays_mixed && mixer_.attendance(k) == Attendance::present) mixed_[k] = declare_public(Vector());
}

/// Mixes, and raises coordinates of states to the mirror map's least positive number.
template <class Mix>
void DecentralizedOmd::keeping_positive(Mix&& mix) {
  positive_.note_zeros(holdings_.state.value());
  mix();
  holdings_.state.update([this](Columns& states) { positive_.restore(states); });
}

/// Mixes until clients agree, or a signal asks them to end. Nothing is released.
void DecentralizedOmd::close(Stopwatch& watch) {
  for (Round t = settings_.rounds; t < settings_.rounds + settings_.closing && mixer_.begin_round(t); ++t) {
    keeping_positive([&] { mixer_.mix(holdings_, watch, shares_); });
  }
  closed_ = true;
}

/// Counts the steps that clients still owe for missed rounds as credited and not taken.
void DecentralizedOmd::write_off() {
  const double missed = due_.write_off(mixer_.clock()) / (settings_.falls_to_zero() ? settings_.first_step() : 1);
  for (std::size_t k = 0; k < learns_.size(); ++k) {
    if (learns_[k] != 0) debt_.credit_untaken(k, missed);
  }
}

Released<Columns> DecentralizedOmd::some_models(std::size_t first, std::size_t count) const {
  return post_process(
      [&](const Columns& state) {
        Columns models(dimension_, count);
        Vector scratch(dimension_);
        for (std::size_t k = 0; k < count; ++k) models.set(k, mirror_.model(state[first + k], scratch));
        return models;
      },
      holdings_.state);
}

Standing DecentralizedOmd::standing(std::size_t k) const {
  if (is_lost(k)) return Standing::lost;
  if (mixer_.has_left(k)) return Standing::departed;
  return mixer_.attendance(k) == Attendance::present ? Standing::present : Standing::absent;
}

void DecentralizedOmd::persist(Snapshot& snapshot) {
  snapshot(played_rounds_, closed_, due_, holdings_, debt_);
  if (settings_.plays_mixed) snapshot.of_clients(mixed_);
  snapshot.of_clients(stepped_, played_.tallies, played_.objectives, played_.rounds);
  snapshot(shares_, mixer_);
  if (learning_) snapshot(learning_->mechanism);
  if (learning_ && learning_->constraints != nullptr) snapshot(*learning_->constraints);
}

void DecentralizedOmd::begin_at(std::size_t k, const Released<Vector>& model) {
  holdings_.state.update(
      [&](Columns& states, const Vector& x) {
        if (mirror_.state_size(dimension_) == dimension_) {
          states.set(k, x);
        } else {
          mirror_.embed(x, states[k]);
        }
      },
      model);
}

void DecentralizedOmd::begin_anew() {
  holdings_.state.update([this](Columns& states) {
    for (std::size_t k = 0; k < states.size(); ++k) {
      if (is_lost(k)) std::fill(states[k].begin(), states[k].end(), std::numeric_limits<double>::quiet_NaN());
    }
  });
  for (std::size_t k = 0; k < holdings_.mass.size(); ++k) holdings_.mass[k] = is_lost(k) ? 0 : 1;
  std::ranges::fill(mixed_, declare_public(Vector()));
  mixer_.begin_anew();
}

void DecentralizedOmd::leave_out(Round end) {
  played_rounds_ = std::max(played_rounds_, end);
  due_.leave_out(end);
  if (learning_) learning_->mechanism.begin_chains();
}

}  // namespace starling
