#include "starling/protocol/mixing.hpp"

#include <algorithm>
#include <cmath>

#include "starling/core/kernels.hpp"

namespace starling {

namespace {

/// Periods up to this are worked out once and kept; longer or endless schedules are worked out as rounds come.
constexpr Round longest_kept_period = 64;

/// Mass below this is not split any further, nor divided by: a client that only gives would come to denormal numbers,
/// and what rounding leaves of a share of 0 is no mass at all. The client keeps its model until it is given more.
constexpr double least_mass = 0x1p-44;

/// Calls own() at client u's place among its in-neighbours, and received(i) for each of these, in order.
template <class Own, class Received>
void in_sender_order(const Links& links, Client u, Own&& own, Received&& received) {
  std::size_t i = 0;
  for (; i < links.in.size() && links.in[i].peer < u; ++i) received(i);
  own();
  for (; i < links.in.size(); ++i) received(i);
}

}  // namespace

View RunningSums::send(Client peer, double weight, View message, MutableView left, bool arrives) {
  Sent& sent = sent_[peer];
  sent.sum.resize(message.size());
  double increment = 0;
  for (std::size_t i = 0; i < message.size(); ++i) {
    double sum = sent.sum[i] + weight * message[i];
    // A sum so large that its last digit exceeds what there is must not turn signs: the share stays where it is.
    if (std::abs(sum - sent.sum[i]) > std::abs(left[i])) sum = sent.sum[i];
    increment = sum - sent.sum[i];
    left[i] -= increment;
    sent.sum[i] = sum;
  }
  sent.in_flight = arrives ? 0 : sent.in_flight + increment;
  sent.pending = !arrives;
  return sent.sum;
}

void RunningSums::receive(Client peer, View sum, MutableView news) {
  Vector& seen = seen_[peer];
  seen.resize(sum.size());
  for (std::size_t i = 0; i < sum.size(); ++i) {
    news[i] = sum[i] - seen[i];
    seen[i] = sum[i];
  }
}

double RunningSums::in_flight() const {
  double total = 0;
  for (const auto& [peer, sent] : sent_) total += sent.in_flight;
  return total;
}

SynchronousMixer::SynchronousMixer(Neighbours& neighbours, const Schedule& schedule, const MixingSettings& settings)
    : neighbours_(neighbours),
      schedule_(schedule),
      settings_(settings),
      length_(neighbours.length()),
      sum_(length_),
      left_(length_) {
  const Round period = schedule.period();
  stages_.resize(period >= 1 && period <= longest_kept_period ? static_cast<std::size_t>(period) : 1);
  if (settings_.running_sums) {
    sums_.resize(neighbours.count());
    kept_ = Columns(length_, neighbours.count());
  }
  outgoing_.emplace(declare_public(Columns(length_, settings_.running_sums ? 0 : neighbours.count())));
}

bool SynchronousMixer::begin_round(Round t) {
  round_ = t;
  return neighbours_.begin_round(t);
}

Attendance SynchronousMixer::attendance(std::size_t k) const {
  return schedule_.attendance(first() + static_cast<Client>(k), round_);
}

void SynchronousMixer::mix(Holdings& holdings, Stopwatch& watch, TimeShares& shares) {
  for (Round g = 0; g < settings_.gossip_steps; ++g) {
    gossip(round_ * settings_.gossip_steps + g, holdings, watch, shares);
  }
}

void SynchronousMixer::gossip(Round step, Holdings& holdings, Stopwatch& watch, TimeShares& shares) {
  Stage& stage = stage_of(step);
  if (settings_.running_sums) {
    prepare_sums(stage, holdings);
  } else {
    prepare(stage, holdings);
  }
  watch.lap(shares.mixing);
  neighbours_.exchange(round_, stage.plan, *outgoing_);
  watch.lap(shares.exchange);
  holdings.state.update([&](Columns& state) {
    for (std::size_t k = 0; k < state.size(); ++k) {
      if (settings_.mixing == Mixing::plain) {
        mix_plain(stage, k, state);
      } else {
        mix_push_sum(stage, k, state, holdings.mass[k]);
      }
    }
  });
  watch.lap(shares.mixing);
}

std::vector<Links> SynchronousMixer::links_of(Round step) const {
  std::vector<Links> links;
  links.reserve(count());
  for (std::size_t k = 0; k < count(); ++k) {
    Links& each = links.emplace_back(schedule_.links(first() + static_cast<Client>(k), step));
    each.share *= 1 - settings_.lazy;
    each.own = settings_.lazy + (1 - settings_.lazy) * each.own;
  }
  return links;
}

SynchronousMixer::Stage& SynchronousMixer::stage_of(Round step) {
  const auto kept = static_cast<Round>(stages_.size());
  auto& stage = stages_[static_cast<std::size_t>(step % kept)];
  const bool repeats = schedule_.period() == kept;
  if (stage && repeats) return *stage;
  std::vector<Links> links = links_of(step);
  if (!stage) {
    Neighbours::Plan plan =
        neighbours_.plan(links, schedule_.period() == 1 ? PlanUse::fixed_graph : PlanUse::changing_graph,
                         settings_.running_sums ? Parcels::per_edge : Parcels::per_sender);
    stage.emplace(Stage{std::move(links), std::move(plan)});
  } else {
    neighbours_.plan_again(stage->plan, links);
    stage->links = std::move(links);
  }
  return *stage;
}

void SynchronousMixer::prepare(const Stage& stage, const Holdings& holdings) {
  outgoing_->update(
      [&](Columns& outgoing, const Columns& state) {
        for (std::size_t k = 0; k < state.size(); ++k) {
          const double w = holdings.mass[k];
          const bool keeps = settings_.mixing == Mixing::push_sum && w < least_mass;
          const double share = keeps ? 0 : stage.links[k].share;
          const View z = state[k];
          const MutableView message = outgoing[k];
          for (std::size_t i = 0; i < z.size(); ++i) message[i] = share * (w * z[i]);
          if (settings_.mixing == Mixing::push_sum) message[z.size()] = share * w;
        }
      },
      holdings.state);
}

// Messages that get lost add to the sums too, and leave the sender all the same.
void SynchronousMixer::prepare_sums(const Stage& stage, const Holdings& holdings) {
  std::size_t edges = 0;
  for (const Links& links : stage.links) edges += links.out.size();
  if (outgoing_->value().size() < edges) outgoing_.emplace(declare_public(Columns(length_, edges)));
  outgoing_->update(
      [&](Columns& outgoing, const Columns& state) {
        std::size_t edge = 0;
        for (std::size_t k = 0; k < state.size(); ++k) {
          const Links& links = stage.links[k];
          const double w = holdings.mass[k];
          const View z = state[k];
          for (std::size_t i = 0; i < z.size(); ++i) sum_[i] = w * z[i];
          sum_[z.size()] = w;
          const double share = w < least_mass ? 0 : links.share;
          const MutableView kept = kept_[k];
          std::copy(sum_.begin(), sum_.end(), kept.begin());
          for (const Arc& arc : links.out) {
            const View sum = sums_[k].send(arc.peer, share * arc.weight, sum_, kept, true);
            std::copy(sum.begin(), sum.end(), outgoing[edge++].begin());
          }
          for (const Arc& arc : links.lost) sums_[k].send(arc.peer, share * arc.weight, sum_, kept, false);
        }
      },
      holdings.state);
}

// What a client keeps is what the others leave, so that no rounding loses mass.
void SynchronousMixer::add_own_share(const Links& links, std::size_t k, View z, double mass) {
  if (settings_.running_sums) {
    axpy(1, std::as_const(kept_)[k], sum_);
    return;
  }
  for (std::size_t i = 0; i < z.size(); ++i) left_[i] = mass * z[i];
  left_[z.size()] = mass;
  const View sent = outgoing_->value()[k];
  for (const Arc& arc : links.out) axpy(-arc.weight, sent, left_);
  axpy(1, left_, sum_);
}

void SynchronousMixer::add_received(const Stage& stage, std::size_t k, std::size_t i) {
  const Arc& arc = stage.links[k].in[i];
  const View message = neighbours_.received(stage.plan, k, i, *outgoing_);
  if (!settings_.running_sums) return axpy(arc.weight, message, sum_);
  sums_[k].receive(arc.peer, message, left_);
  axpy(1, left_, sum_);
}

// s_u = Σ_v A[u,v] w_v z_v,  w_u ← Σ_v A[u,v] w_v,  x_u = s_u / w_u  (method 1, mixing).
// Shares are applied to what each sender sent once, in sender order. A client that has given its mass away and got none
// keeps its model, which then counts for nothing.
void SynchronousMixer::mix_push_sum(const Stage& stage, std::size_t k, Columns& state, double& mass) {
  const Links& links = stage.links[k];
  if (links.in.empty() && links.out.empty() && links.lost.empty()) return;
  const MutableView x = state[k];
  std::fill(sum_.begin(), sum_.end(), 0.0);
  in_sender_order(
      links, first() + static_cast<Client>(k), [&] { add_own_share(links, k, x, mass); },
      [&](std::size_t i) { add_received(stage, k, i); });
  mass = sum_.back();
  if (mass < least_mass) return;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = sum_[i] / mass;
}

// x_u = Σ_v A[u,v] z_v in sender order (method 1, mixing, plain).
void SynchronousMixer::mix_plain(const Stage& stage, std::size_t k, Columns& state) {
  const Links& links = stage.links[k];
  const MutableView x = state[k];
  std::fill(sum_.begin(), sum_.end(), 0.0);
  in_sender_order(
      links, first() + static_cast<Client>(k), [&] { axpy(links.own, x, sum_); },
      [&](std::size_t i) { axpy(links.in[i].weight, neighbours_.received(stage.plan, k, i, *outgoing_), sum_); });
  std::copy(sum_.begin(), sum_.end(), x.begin());
}

// Traffic is counted when a plan goes.
void SynchronousMixer::finish(Holdings&) {
  for (auto& stage : stages_) stage.reset();
}

void SynchronousMixer::persist(Snapshot& snapshot) {
  for (auto& stage : stages_) {
    if (stage) neighbours_.count(stage->plan);
  }
  snapshot(round_, neighbours_, sums_);
}

double SynchronousMixer::in_flight() const {
  double total = 0;
  for (const RunningSums& sums : sums_) total += sums.in_flight();
  return total;
}

}  // namespace starling
