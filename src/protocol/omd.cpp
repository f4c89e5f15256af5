#include "starling/protocol/omd.hpp"

#include <algorithm>
#include <cmath>

#include "starling/core/kernels.hpp"

namespace starling {

namespace {

/// Periods up to this are worked out once and kept; longer or endless schedules are worked out as rounds come.
constexpr Round longest_kept_period = 64;
constexpr Round timed_rounds_apart = 16;

}  // namespace

/// Splits time over the parts of a round, on some rounds only: a clock costs as much as a small exchange.
class DecentralizedOmd::Stopwatch {
 public:
  explicit Stopwatch(bool running) : running_(running) {
    if (running_) last_ = std::chrono::steady_clock::now();
  }
  void lap(double& seconds) {
    if (!running_) return;
    const auto now = std::chrono::steady_clock::now();
    seconds += std::chrono::duration<double>(now - last_).count() * static_cast<double>(timed_rounds_apart);
    last_ = now;
  }

 private:
  bool running_;
  std::chrono::steady_clock::time_point last_;
};

DecentralizedOmd::DecentralizedOmd(Neighbours& neighbours, const Schedule& schedule, MirrorMap& mirror,
                                   std::optional<Learning> learning, const OmdSettings& settings,
                                   const Released<Columns>& start)
    : neighbours_(neighbours),
      schedule_(schedule),
      mirror_(mirror),
      learning_(std::move(learning)),
      settings_(settings),
      dimension_(start.value().rows()),
      state_(declare_public(Columns(mirror.state_size(dimension_), neighbours.count()))),
      outgoing_(declare_public(Columns(message_length(mirror, dimension_, settings.mixing), neighbours.count()))),
      mass_(neighbours.count(), 1.0),
      debt_(neighbours.count(), 0.0),
      releases_(neighbours.count(), 0),
      tallies_(neighbours.count()),
      played_(neighbours.count()),
      noisy_gradient_(declare_public(Vector(dimension_))),
      scratch_(dimension_) {
  state_.update(
      [&](Columns& state, const Columns& models) {
        for (std::size_t k = 0; k < models.size(); ++k) mirror_.embed(models[k], state[k]);
      },
      start);
  const Round period = schedule.period();
  stages_.resize(period >= 1 && period <= longest_kept_period ? static_cast<std::size_t>(period) : 1);
}

void DecentralizedOmd::run(const std::vector<Observer*>& observers) {
  for (Observer* observer : observers) observer->after(*this);
  while (done_ < settings_.rounds && neighbours_.begin_round(done_)) {
    const Round t = done_;
    Stopwatch watch(t % timed_rounds_apart == 0);
    for (std::size_t k = 0; k < mass_.size(); ++k) learn(k, t);  // 1. play  2. release  3. mirror step
    watch.lap(shares_.learning);
    for (Round g = 0; g < settings_.gossip_steps; ++g) gossip(t, t * settings_.gossip_steps + g, watch);  // 4. mix
    ++done_;
    for (Observer* observer : observers) observer->after(*this);
    watch.lap(shares_.observing);
  }
  stage_ = nullptr;
  for (auto& stage : stages_) stage.reset();  // traffic is counted when a plan goes
}

void DecentralizedOmd::gossip(Round t, Round step, Stopwatch& watch) {
  for (std::size_t k = 0; k < mass_.size(); ++k) prepare_message(k);
  Neighbours::Plan& plan = plan_of(step);
  watch.lap(shares_.mixing);
  neighbours_.exchange(t, plan, outgoing_);
  watch.lap(shares_.exchange);
  for (std::size_t k = 0; k < mass_.size(); ++k) mix(k, plan);
  watch.lap(shares_.mixing);
}

// Items 1 to 3 of the round. A client whose stream or budget has ended takes no step and releases nothing.
void DecentralizedOmd::learn(std::size_t k, Round t) {
  if (!learning_ || learning_->streams[k]->ended(t)) return;
  const std::optional<double> price = learning_->accounts.pay(k, t);
  if (!price) return;
  const Secret<Batch>& batch = learning_->streams[k]->next(t);
  Mechanism& mechanism = learning_->mechanism;
  const View x = mirror_.model(state_.value()[k], scratch_);

  apply(
      [&](Vector& gradient, Score& tally, double& played, const Batch& records) {
        Score score = learning_->model.evaluate(x, records, mechanism.clip(), gradient);
        const double penalty = 0.5 * settings_.l2 * dot(x, x);
        played += score.loss / static_cast<double>(mechanism.settings().batch) + penalty;
        score.loss += penalty * static_cast<double>(score.records);
        tally += score;
      },
      gradient_, tallies_[k], played_[k], batch);

  const Client u = neighbours_.first() + static_cast<Client>(k);
  mechanism.release({u, t, 0}, *price, learning_->keys[k], gradient_, noisy_gradient_);
  ++releases_[k];
  if (settings_.l2 != 0) noisy_gradient_.update([&](Vector& gradient) { axpy(settings_.l2, x, gradient); });

  const double length = take_step_length(k, t);
  state_.update([&](Columns& state, const Vector& gradient) { mirror_.step(state[k], length, gradient); },
                noisy_gradient_);
}

double DecentralizedOmd::eta(Round t) const {
  return settings_.step / std::pow(static_cast<double>(t + 1) + settings_.step_offset, settings_.step_power);
}

// η_t / w_u, with the part that would exceed the cap kept as debt (method 1, "Step debt").
double DecentralizedOmd::take_step_length(std::size_t k, Round t) {
  debt_[k] += eta(t);
  const double use = std::min(debt_[k], settings_.step_cap * eta(0) * mass_[k]);
  debt_[k] -= use;
  return use / mass_[k];
}

void DecentralizedOmd::prepare_message(std::size_t k) {
  outgoing_.update(
      [&](Columns& outgoing, const Columns& state) {
        const MutableView message = outgoing[k];
        const View z = state[k];
        if (settings_.mixing == Mixing::plain) {
          std::copy(z.begin(), z.end(), message.begin());
          return;
        }
        for (std::size_t i = 0; i < z.size(); ++i) message[i] = mass_[k] * z[i];
        message[z.size()] = mass_[k];
      },
      state_);
}

void DecentralizedOmd::mix(std::size_t k, const Neighbours::Plan& plan) {
  state_.update([&](Columns& state) {
    if (settings_.mixing == Mixing::push_sum) {
      mix_push_sum(k, plan, state);
    } else {
      mix_plain(k, plan, state);
    }
  });
}

// s_u = Σ_v A[u,v] w_v z_v,  w_u ← Σ_v A[u,v] w_v,  x_u = s_u / w_u  (method 1, mixing).
// Shares are applied here, to what each sender sent once, in sender order. The own share is what the others leave, so
// that no rounding loses mass.
void DecentralizedOmd::mix_push_sum(std::size_t k, const Neighbours::Plan& plan, Columns& state) {
  const Links& links = stage_->links[k];
  const View own = outgoing_.value()[k];
  const MutableView x = state[k];
  const std::size_t d = x.size();
  const Client u = neighbours_.first() + static_cast<Client>(k);
  double w = 0;
  std::fill(x.begin(), x.end(), 0.0);
  const auto add_left = [&] {
    left_.assign(own.begin(), own.end());
    for (const Arc& arc : links.out) axpy(-arc.weight, own, left_);
    axpy(1, View(left_).first(d), x);
    w += left_[d];
  };
  bool own_added = false;
  for (std::size_t i = 0; i < links.in.size(); ++i) {
    if (!own_added && links.in[i].peer > u) {
      add_left();
      own_added = true;
    }
    const View message = neighbours_.received(plan, k, i, outgoing_);
    axpy(links.in[i].weight, message.first(d), x);
    w += links.in[i].weight * message[d];
  }
  if (!own_added) add_left();
  for (double& value : x) value /= w;
  mass_[k] = w;
}

// x_u = Σ_v A[u,v] z_v in sender order (method 1, mixing, plain).
void DecentralizedOmd::mix_plain(std::size_t k, const Neighbours::Plan& plan, Columns& state) {
  const Links& links = stage_->links[k];
  const MutableView x = state[k];
  const Client u = neighbours_.first() + static_cast<Client>(k);
  std::fill(x.begin(), x.end(), 0.0);
  bool own_added = false;
  const auto add_own = [&] { axpy(links.own, outgoing_.value()[k], x); };
  for (std::size_t i = 0; i < links.in.size(); ++i) {
    if (!own_added && links.in[i].peer > u) {
      add_own();
      own_added = true;
    }
    axpy(links.in[i].weight, neighbours_.received(plan, k, i, outgoing_), x);
  }
  if (!own_added) add_own();
}

Neighbours::Plan& DecentralizedOmd::plan_of(Round step) {
  const auto kept = static_cast<Round>(stages_.size());
  auto& stage = stages_[static_cast<std::size_t>(step % kept)];
  if (!stage || schedule_.period() != kept) stage.emplace(make_stage(step));
  stage_ = &*stage;
  return stage_->plan;
}

DecentralizedOmd::Stage DecentralizedOmd::make_stage(Round step) {
  std::vector<Links> links;
  for (std::size_t k = 0; k < mass_.size(); ++k) {
    Links each = schedule_.links(neighbours_.first() + static_cast<Client>(k), step);
    if (settings_.lazy > 0) {
      for (Arc& arc : each.out) arc.weight *= 1 - settings_.lazy;
      for (Arc& arc : each.in) arc.weight *= 1 - settings_.lazy;
      each.own = settings_.lazy + (1 - settings_.lazy) * each.own;
    }
    links.push_back(std::move(each));
  }
  Neighbours::Plan plan =
      neighbours_.plan(links, schedule_.period() == 1 ? PlanUse::fixed_graph : PlanUse::changing_graph);
  return Stage{std::move(links), std::move(plan)};
}

Released<Columns> DecentralizedOmd::models() const {
  return post_process(
      [&](const Columns& state) {
        Columns models(dimension_, state.size());
        Vector scratch(dimension_);
        for (std::size_t k = 0; k < state.size(); ++k) {
          const View x = mirror_.model(state[k], scratch);
          std::copy(x.begin(), x.end(), models[k].begin());
        }
        return models;
      },
      state_);
}

}  // namespace starling
