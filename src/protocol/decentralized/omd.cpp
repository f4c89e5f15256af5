#include "starling/protocol/decentralized/omd.hpp"

#include "protocol/bounded_model.hpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "starling/core/check.hpp"
#include "starling/core/numerics/kernels.hpp"
#include "starling/protocol/decentralized/step_cap.hpp"

namespace starling {

namespace {

/// A client that has missed steps takes them as soon as the others have this many times as many before them.
constexpr double steps_left_per_missed = 4;

/// The mirror states of models; most maps have these for states, and then they stay where they are.
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
      longest_step_(settings.step_cap * step_size(settings, 0)),
      dimension_(start.value().rows()),
      holdings_{embedded(mirror, std::move(start)), Vector(mixer.count(), 1.0)},
      positive_(learning_ ? mirror.least_coordinate() : 0),
      debt_(mixer.count(), 0.0),
      credit_(mixer.count(), 0.0),
      forgone_(mixer.count(), 0.0),
      learns_(mixer.count(), 0),
      stepped_(mixer.count(), 0),
      tallies_(mixer.count()),
      played_(mixer.count()),
      rounds_played_(mixer.count()),
      noisy_gradient_(declare_public(Vector(dimension_))),
      scratch_(dimension_),
      shown_(dimension_) {
  check(holdings_.state.value().size() == mixer.count(), "{} start models for {} clients (each needs one)",
        holdings_.state.value().size(), mixer.count());
}

void DecentralizedOmd::run(const std::vector<Observer*>& observers) {
  using Calls = Watchers::Calls;
  Watchers watchers(observers, mixer_.has_all_in_step() ? Calls::when_due : Calls::every_round);
  if (played_rounds_ == 0) watchers.show(*this);  // else it goes on, and they have seen where
  while (goes_on()) {
    const Round t = played_rounds_;
    Stopwatch watch(t % Stopwatch::timed_rounds_apart == 0);
    credit();
    for (std::size_t k = 0; k < holdings_.mass.size(); ++k) learn(k, t);  // 1. play  2. release  3. mirror step
    watch.lap(shares_.learning);
    keeping_positive([&] { mixer_.mix(holdings_, watch, shares_); });  // 4. mix
    ++played_rounds_;
    watchers.show(*this);
    watch.lap(shares_.observing);
  }
  keeping_positive([&] { mixer_.finish(holdings_); });
  write_off();
}

template <class Mix>
void DecentralizedOmd::keeping_positive(Mix&& mix) {
  positive_.note_zeros(holdings_.state.value());
  mix();
  holdings_.state.update([this](Columns& states) { positive_.restore(states); });
}

/// Until this rank has played all rounds, or the fastest has: then the others step no more, and models would lean
/// towards whoever went on.
bool DecentralizedOmd::goes_on() {
  if (played_rounds_ == settings_.rounds || credited_ == settings_.rounds) return false;
  return mixer_.begin_round(played_rounds_);
}

/// Whether client k can take a step in the round that comes next or has begun. One whose stream has ended takes none,
/// nor does one that is gone or, if it freezes when it is absent, absent.
bool DecentralizedOmd::may_step(std::size_t k) {
  if (!learning_ || learning_->streams[k]->ended(played_rounds_)) return false;
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

/// Steps that are due: one, where rounds are in step; otherwise one for each round of the fastest client, so that
/// clients of any speed count the same. A rank that has been away takes one step of the first round's length at most.
/// If the others have too few steps before them to answer that, it takes a step of the round's length, and none if they
/// have ended. It may be a few rounds late even then, or by half the first step: then its step moves models about as
/// far towards it as the others have moved them away.
void DecentralizedOmd::credit() {
  const Round clock = std::min(mixer_.clock(), settings_.rounds);
  const Round missed = clock - credited_ - 1;
  owed_ = 0;
  for (; credited_ < clock; ++credited_) owed_ += step_size(settings_, credited_);
  if (missed > 0) {
    const double first = step_size(settings_, 0);
    const double last = step_size(settings_, clock - 1);
    const bool is_early = is_answered(owed_);
    const bool is_late = owed_ > (is_early ? first : std::max(first / 2, 4 * last));
    too_late_ = is_late && clock == settings_.rounds;
    const double step = too_late_ ? 0 : is_early ? first : last;
    if (is_late) late_ += owed_ - step;
    if (is_late) owed_ = step;
  }
  if (late_ > 0) owed_ += repayment(owed_);
}

/// Whether the others have enough steps before them to bring models back from one of this length.
bool DecentralizedOmd::is_answered(double step) const {
  return steps_left_per_missed * step <= steps_between(credited_, settings_.rounds);
}

/// The part of what was missed that the next step makes up for, where `fresh` is Σ η of what it takes anyway. All of
/// it, if the others have enough steps before them to find back to where all clients pull alike; else a quarter of
/// what they step, so that the last word is not that of a client which was late.
double DecentralizedOmd::repayment(double fresh) {
  const double part = is_answered(late_) ? late_ : std::min(late_, fresh / steps_left_per_missed);
  late_ -= part;
  return part;
}

/// Σ η over these rounds, estimated by the midpoint rule.
double DecentralizedOmd::steps_between(Round begin, Round end) const {
  const double p = settings_.step_power;
  const auto integral = [&](Round t) {
    const double place = static_cast<double>(t) + 0.5 + settings_.step_offset;
    return p == 1 ? std::log(place) : std::pow(place, 1 - p) / (1 - p);
  };
  return settings_.step * (integral(end) - integral(begin));
}

/// Counts the steps that clients owe for what they missed as credited and not taken. Where a signal has stopped the
/// run, others may have played rounds that are not credited here; the last round of the clock may have been refused to
/// all.
void DecentralizedOmd::write_off() {
  const Round clock = std::min(mixer_.clock(), settings_.rounds);
  for (Round t = credited_; t + 1 < clock; ++t) late_ += step_size(settings_, t);
  for (std::size_t k = 0; k < learns_.size(); ++k) {
    if (learns_[k] == 0) continue;
    credit_[k] += late_;
    forgone_[k] += late_;
  }
  late_ = 0;
}

// Items 1 to 3 of the round. A client whose stream or budget has ended takes no step and releases nothing.
void DecentralizedOmd::learn(std::size_t k, Round t) {
  stepped_[k] = 0;
  if (too_late_) return;
  learns_[k] = may_step(k) ? 1 : 0;
  if (learns_[k] == 0) return;
  const std::optional<double> price = learning_->accounts.pay(k, t);
  if (!price) {
    forgone_[k] += std::exchange(debt_[k], 0.0);  // its learning has ended
    learns_[k] = 0;
    return;
  }
  const Secret<Batch>& batch = learning_->streams[k]->next(t);
  Mechanism& mechanism = learning_->mechanism;
  const View x = mirror_.model(holdings_.state.value()[k], scratch_);
  LongTermConstraints* const constraints = learning_->constraints;
  if (constraints != nullptr) constraints->arrive(k, x);

  const Client u = mixer_.first() + static_cast<Client>(k);
  const auto evaluate = [&](Vector& gradient, Score& tally, double& played, const Batch& records) {
    Score score = learning_->model.evaluate(x, records, mechanism.clip(), gradient);
    const double penalty = settings_.l2 != 0 ? 0.5 * settings_.l2 * dot(x, x) : 0;
    played += score.loss / static_cast<double>(mechanism.settings().batch) + penalty;
    score.loss += penalty * static_cast<double>(score.records);
    tally += score;
  };
  require_bounded_model(x, learning_->model.largest_parameter(), u, t);
  apply(evaluate, gradient_, tallies_[k], played_[k], batch);

  const ReleaseAddress address{ReleasePath::omd_gradient, u, t, 0};
  mechanism.release(address, *price, learning_->keys[k], gradient_, noisy_gradient_);
  rounds_played_[k].add(t);
  if (settings_.l2 != 0) noisy_gradient_.update([&](Vector& gradient) { axpy(settings_.l2, x, gradient); });
  if (constraints != nullptr) {
    constraints->bend(k, address, *price, learning_->keys[k], step_size(settings_, t), x, batch, noisy_gradient_);
  }

  stepped_[k] = 1;
  const double length = take_step_length(k);
  holdings_.state.update([&](Columns& state, const Vector& gradient) { mirror_.step(state[k], length, gradient); },
                         noisy_gradient_);
}

// η_t / w_u, with the part that would exceed the cap kept as debt (method 1, "Step debt"). A client without mass steps
// once it has some again: of a mass that is rounding, whether there is any is chance.
double DecentralizedOmd::take_step_length(std::size_t k) {
  debt_[k] += owed_;
  credit_[k] += owed_;
  const double w = holdings_.mass[k];
  if (w < negligible_mass) return 0;
  const double use = std::min(debt_[k], longest_step_ * w);
  debt_[k] -= use;
  return use / w;
}

double DecentralizedOmd::effective_weight(std::size_t k) const {
  if (credit_[k] <= 0) return std::numeric_limits<double>::quiet_NaN();
  return 1 - (debt_[k] + forgone_[k]) / credit_[k];
}

Released<Columns> DecentralizedOmd::some_models(std::size_t first, std::size_t count) const {
  return post_process(
      [&](const Columns& state) {
        Columns models(dimension_, count);
        Vector scratch(dimension_);
        for (std::size_t k = 0; k < count; ++k) {
          const View x = mirror_.model(state[first + k], scratch);
          std::copy(x.begin(), x.end(), models[k].begin());
        }
        return models;
      },
      holdings_.state);
}

void DecentralizedOmd::persist(Snapshot& snapshot) {
  snapshot(played_rounds_, credited_, holdings_, debt_, credit_, forgone_, stepped_, tallies_, played_, rounds_played_,
           shares_, mixer_);
  if (learning_ && learning_->constraints != nullptr) snapshot(*learning_->constraints);
}

// No steps are owed for them.
void DecentralizedOmd::leave_out(Round end) {
  played_rounds_ = std::max(played_rounds_, end);
  credited_ = std::max(credited_, end);
}

View DecentralizedOmd::model(std::size_t k) const {
  return mirror_.model(holdings_.state.value()[k], shown_);
}

}  // namespace starling
