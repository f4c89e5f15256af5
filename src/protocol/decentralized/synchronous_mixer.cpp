#include "protocol/decentralized/synchronous_mixer.hpp"

#include <algorithm>

#include "core/memory/huge_pages.hpp"
#include "core/numerics/kernels.hpp"

namespace starling {

namespace {

/// Longest period whose stages are made once and kept. Other schedules are worked out as rounds come.
constexpr Round longest_kept_period = 64;

/// Calls own() at client u's place among its in-neighbours, and received(i) for each of these, in order.
template <class Own, class Received>
void in_sender_order(const Links& links, Client u, Own&& own, Received&& received) {
  std::size_t i = 0;
  for (; i < links.in.size() && links.in[i].peer < u; ++i) received(i);
  own();
  for (; i < links.in.size(); ++i) received(i);
}

/// Numbers that are prefetched while clients are summed: enough to hide the latency of memory, few enough for the
/// second cache.
constexpr std::size_t fetched_at_once = 2048;

/// Longest vector that is prefetched; the processor does so by itself for longer ones.
constexpr std::size_t longest_fetched = 512;

/// Prefetches a vector of `length` numbers into the second cache, which can wait for many more lines than the first.
/// The number of requests does not depend on the alignment.
void fetch_ahead(const double* x, std::size_t length) {
  if (length > longest_fetched) return;
  constexpr std::size_t numbers = cache_line / sizeof(double);
  for (std::size_t i = 0; i < length; i += numbers) __builtin_prefetch(x + i, 0, 1);
  __builtin_prefetch(x + length - 1, 0, 1);
}

/// Σ weight × mass in the order of the terms. A vector's mass is its entry `last`; that of term `own` is `own_mass`.
double sum_of_masses(std::span<const Term> terms, std::size_t last, std::size_t own, double own_mass) {
  double sum = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) sum += terms[i].weight * (i == own ? own_mass : terms[i].x[last]);
  return sum;
}

/// The part of `mass` that is left when the shares of `sent` have been given away.
double mass_left(double mass, View shares, double sent) {
  const double one = 1;
  double left = 0;
  what_is_left(mass, &one, shares, &sent, 1, &left);
  return left;
}

}  // namespace

SynchronousMixer::SynchronousMixer(Neighbours& neighbours, std::size_t state_size, const Schedule& schedule,
                                   const MixingSettings& settings)
    : Mixer(neighbours.first(), neighbours.count()),
      neighbours_(neighbours),
      schedule_(schedule),
      settings_(settings),
      length_(message_length(state_size, settings.mixing)),
      left_(length_),
      sum_(length_) {
  const Round period = schedule.period();
  stages_.resize(period >= 1 && period <= longest_kept_period ? static_cast<std::size_t>(period) : 1);
  if (settings_.running_sums) sums_.resize(neighbours.count());
  if (!settings_.rounds_messages()) return;
  rounded_.emplace(settings_.precision, length_);
  pair_.resize(length_);
}

bool SynchronousMixer::begin_round(Round t) {
  round_ = t;
  return neighbours_.begin_round(t);
}

Attendance SynchronousMixer::attendance(std::size_t k) const {
  return schedule_.attendance(first() + static_cast<Client>(k), round_);
}

bool SynchronousMixer::plan_ahead() {
  if (schedule_.period() != 1) return false;
  static_cast<void>(stage_of(0));
  return true;
}

void SynchronousMixer::mix(Holdings& holdings, Stopwatch& watch, TimeShares& shares) {
  for (Round g = 0; g < settings_.gossip_steps; ++g) {
    gossip(round_ * settings_.gossip_steps + g, holdings, watch, shares);
  }
}

void SynchronousMixer::gossip(Round step, Holdings& holdings, Stopwatch& watch, TimeShares& shares) {
  Stage& stage = stage_of(step);
  watch.lap(shares.mixing);
  outgoing_ = &neighbours_.outgoing(round_, stage.plan);
  watch.lap(shares.exchange);
  if (settings_.running_sums) {
    prepare_sums(stage, holdings);
  } else {
    prepare(stage, holdings);
  }
  watch.lap(shares.mixing);
  neighbours_.exchange(round_, stage.plan, *outgoing_);
  watch.lap(shares.exchange);
  holdings.state.update([&](Columns& state) {
    if (!settings_.running_sums) return mix_block(stage, state, holdings.mass);
    for (std::size_t k = 0; k < state.size(); ++k) mix_running_sums(stage, k, state[k], holdings.mass[k]);
  });
  neighbours_.finish_reading();
  watch.lap(shares.mixing);
}

SynchronousMixer::Stage& SynchronousMixer::stage_of(Round step) {
  const auto kept = static_cast<Round>(stages_.size());
  auto& stage = stages_[static_cast<std::size_t>(step % kept)];
  if (!stage || schedule_.period() != kept) make_stage(stage, step);
  return *stage;
}

Links SynchronousMixer::links_of(Client u, Round step) const {
  Links links = schedule_.links(u, step);
  double given = 0;
  for (const Arc& arc : links.out) given += links.share * arc.weight;
  const bool keeps_more = rounded_ && 1 - given < least_kept_share;
  const double lazy = keeps_more ? std::max(settings_.lazy, share_kept_instead) : settings_.lazy;
  links.share *= 1 - lazy;
  links.own = lazy + (1 - lazy) * links.own;
  return links;
}

// Links are asked for client by client: all at once would take more memory than models.
void SynchronousMixer::make_stage(std::optional<Stage>& stage, Round step) {
  LinkWeights weights;
  std::vector<Links> all;
  if (stage) {
    std::swap(weights, stage->weights);
    std::swap(all, stage->links);
  }
  weights.clear(count());
  all.clear();
  Links row;
  const auto links = [&](std::size_t k) -> const Links& {
    const Client u = first() + static_cast<Client>(k);
    row = links_of(u, step);
    weights.add(row, u);
    if (settings_.running_sums) all.push_back(row);
    return row;
  };
  if (stage) {
    neighbours_.plan_again(stage->plan, links);
    std::swap(weights, stage->weights);
    std::swap(all, stage->links);
  } else {
    const Parcels parcels = settings_.running_sums ? Parcels::per_edge : Parcels::per_sender;
    Neighbours::Plan plan = neighbours_.plan(links, use_of_plans(), parcels);
    stage.emplace(Stage{std::move(weights), std::move(all), std::move(plan)});
  }
}

PlanUse SynchronousMixer::use_of_plans() const {
  if (schedule_.period() == 1) return PlanUse::fixed_graph;
  const bool all_are_kept = schedule_.period() == static_cast<Round>(stages_.size());
  return all_are_kept ? PlanUse::repeating_graph : PlanUse::changing_graph;
}

void SynchronousMixer::prepare(const Stage& stage, Holdings& holdings) {
  staying_.clear();
  holdings.state.update([&](Columns& state) {
    outgoing_->update([&](Columns& outgoing) {
      for (std::size_t k = 0; k < state.size(); ++k) {
        if (settings_.mixing == Mixing::push_sum) {
          split(stage, k, state[k], holdings.mass[k], outgoing[k]);
        } else {
          const View z = state[k];
          for (std::size_t i = 0; i < z.size(); ++i) outgoing[k][i] = stage.weights.share[k] * z[i];
        }
      }
    });
  });
}

// message = share (w z, w), rounded if messages have few bits. A client keeps the remainder, so that no rounding loses
// mass. The remainder replaces (z, w), except for z of a client that may have to keep its model.
void SynchronousMixer::split(const Stage& stage, std::size_t k, MutableView z, double& mass, MutableView column) {
  const std::size_t d = z.size();
  const View given = stage.weights.out[k];
  const double w = mass;
  const double share = w < (rounded_ ? least_mass_rounded : negligible_mass) ? 0 : stage.weights.share[k];
  const MutableView message = rounded_ ? MutableView(pair_) : column;
  message[d] = share * w;
  mass = mass_left(w, given, message[d]);
  const bool stays = mass < negligible_mass || stage.weights.is_alone(k);
  if (stays) staying_.push_back({k, w});
  if (!stays && !rounded_) return give_away(w, share, z.data(), given, d, message.data());
  for (std::size_t i = 0; i < d; ++i) message[i] = share * (w * z[i]);
  if (rounded_ && !given.empty()) rounded_->send(message, column);
  if (rounded_ && !stays) what_is_left(w, z.data(), given, message.data(), d, z.data());
}

// A message that gets lost is added to the sums too. The mass becomes that which the client keeps.
void SynchronousMixer::prepare_sums(const Stage& stage, Holdings& holdings) {
  outgoing_->update(
      [&](Columns& outgoing, const Columns& state) {
        std::size_t edge = 0;
        for (std::size_t k = 0; k < state.size(); ++k) {
          const Links& links = stage.links[k];
          const double w = holdings.mass[k];
          const double share = w < negligible_mass ? 0 : links.share;
          MassSplit split(w);
          for (const Arc& arc : links.out) {
            const View sum = sums_[k].send(arc.peer, state[k], split.take(share * arc.weight * w), true);
            std::copy(sum.begin(), sum.end(), outgoing[edge++].begin());
          }
          for (const Arc& arc : links.lost) {
            sums_[k].send(arc.peer, state[k], split.take(share * arc.weight * w), false);
          }
          holdings.mass[k] = split.left();
        }
      },
      holdings.state);
}

/// Lists the terms of client k's sum in the order of senders; `own` points to its own part.
void SynchronousMixer::list_terms(const Stage& stage, const Received& received, std::size_t k, const double* own) {
  const LinkWeights& weights = stage.weights;
  const View in = weights.in[k];
  const std::size_t count = in.size();
  const bool whole = settings_.mixing == Mixing::push_sum;  // its own part is weighted already
  const Term own_term{whole ? 1 : weights.own[k], own};
  terms_.clear();
  if (rounded_ && pairs_.size() < count * length_) pairs_.resize(count * length_);
  for (std::size_t i = 0; i < count; ++i) {
    if (i == weights.own_place[k]) terms_.push_back(own_term);
    View pair = received(k, i);
    if (rounded_) {
      const MutableView decoded = MutableView(pairs_).subspan(i * length_, length_);
      rounded_->receive(pair, decoded);
      pair = decoded;
    }
    terms_.push_back({in[i], pair.data()});
  }
  if (count == weights.own_place[k]) terms_.push_back(own_term);
}

// While clients are summed the vectors of the next clients are prefetched.
void SynchronousMixer::mix_block(const Stage& stage, Columns& state, Vector& mass) {
  const Received received = neighbours_.received(stage.plan);
  const std::size_t clients = state.size();
  const auto entries = [&](std::size_t k) { return stage.weights.in[k].size() * length_; };
  std::size_t next = 0;  // first client not prefetched
  std::size_t fetched = 0;
  auto staying = staying_.begin();
  for (std::size_t k = 0; k < clients; ++k) {
    for (; next < clients && (next <= k + 1 || fetched < fetched_at_once); ++next) {
      for (std::size_t i = 0; i < stage.weights.in[next].size(); ++i)
        fetch_ahead(received(next, i).data(), neighbours_.length());
      fetched += entries(next);
    }
    list_terms(stage, received, k, state[k].data());
    if (settings_.mixing == Mixing::plain) {
      mix_plain(state[k]);
    } else if (staying != staying_.end() && staying->client == k) {
      mix_staying(stage, *staying++, state[k], mass[k]);
    } else {
      mix_push_sum(stage, k, state[k], mass[k]);
    }
    fetched -= entries(k);
  }
}

// x_u = Σ_v A[u,v] z_v in sender order (docs/methods/decentralized.md, "One round", plain).
void SynchronousMixer::mix_plain(MutableView x) {
  weighted_sum(terms_, 0, x.size(), 1, x.data());
}

// s_u = Σ_v A[u,v] w_v z_v,  w_u ← Σ_v A[u,v] w_v,  x_u = s_u / w_u  (docs/methods/decentralized.md, "One
// round"). On entry x and mass are those that u has kept. Shares are applied to what each sender sent once, in sender
// order.
void SynchronousMixer::mix_push_sum(const Stage& stage, std::size_t k, MutableView x, double& mass) {
  mass = sum_of_masses(terms_, x.size(), stage.weights.own_place[k], mass);
  weighted_sum(terms_, 0, x.size(), mass, x.data());
}

// Push-sum where x is still z. A client that has given its mass away and received none keeps its model with a
// negligible mass.
void SynchronousMixer::mix_staying(const Stage& stage, const Staying& staying, MutableView x, double& mass) {
  const std::size_t k = staying.client;
  if (stage.weights.is_alone(k)) {
    mass = staying.mass;
    return;
  }
  const std::size_t own = stage.weights.own_place[k];
  mass = sum_of_masses(terms_, x.size(), own, mass);
  if (mass < negligible_mass) return;
  const View given = rounded_ ? View() : stage.weights.out[k];  // rounded messages carry none of so little mass
  what_is_left(staying.mass, x.data(), given, outgoing_->value()[k].data(), x.size(), left_.data());
  terms_[own].x = left_.data();
  weighted_sum(terms_, 0, x.size(), mass, x.data());
}

/// Mass that is new for client k in the sums of its in-neighbours.
double SynchronousMixer::new_mass(const Links& links, const Received& received, std::size_t k) const {
  double mass = 0;
  for (std::size_t i = 0; i < links.in.size(); ++i) mass += sums_[k].new_mass(links.in[i].peer, received(k, i));
  return mass;
}

// Push-sum with running sums; on entry the mass is that which the client has kept, of model x. Sums that leave it with
// a negligible mass are not accepted: their news is part of the next sums too.
void SynchronousMixer::mix_running_sums(const Stage& stage, std::size_t k, MutableView x, double& mass) {
  const Links& links = stage.links[k];
  if (links.in.empty() && links.out.empty() && links.lost.empty()) return;
  const Received received = neighbours_.received(stage.plan);
  if (mass + new_mass(links, received, k) < negligible_mass) return;
  std::fill(sum_.begin(), sum_.end(), 0.0);
  const auto keep = [&] {
    for (std::size_t i = 0; i < x.size(); ++i) sum_[i] += mass * x[i];
    sum_.back() += mass;
  };
  in_sender_order(links, first() + static_cast<Client>(k), keep, [&](std::size_t i) {
    sums_[k].accept(links.in[i].peer, received(k, i), left_);
    axpy(1, left_, sum_);
  });
  mass = sum_.back();
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = sum_[i] / mass;
}

// A plan counts its traffic when it is destroyed.
void SynchronousMixer::finish(Holdings&) {
  for (auto& stage : stages_) stage.reset();
  outgoing_ = nullptr;
}

void SynchronousMixer::persist(Snapshot& snapshot) {
  for (auto& stage : stages_) {
    if (stage) neighbours_.count(stage->plan);
  }
  snapshot(round_, neighbours_);
  snapshot.of_clients(sums_);
}

double SynchronousMixer::in_flight(std::size_t k) const {
  return sums_.empty() ? 0 : sums_[k].in_flight();
}

}  // namespace starling
