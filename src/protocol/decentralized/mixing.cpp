#include "starling/protocol/decentralized/mixing.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "starling/core/check.hpp"
#include "starling/core/memory/huge_pages.hpp"
#include "starling/core/numerics/kernels.hpp"

namespace starling {

namespace {

/// Periods up to this are worked out once and kept; longer or endless schedules are worked out as rounds come.
constexpr Round longest_kept_period = 64;

/// Calls own() at client u's place among its in-neighbours, and received(i) for each of these, in order.
template <class Own, class Received>
void in_sender_order(const Links& links, Client u, Own&& own, Received&& received) {
  std::size_t i = 0;
  for (; i < links.in.size() && links.in[i].peer < u; ++i) received(i);
  own();
  for (; i < links.in.size(); ++i) received(i);
}

/// Rows of weights that are compared with a new one. A power of two.
constexpr int bits_of_rows_remembered = 6;
constexpr std::size_t rows_remembered = std::size_t{1} << bits_of_rows_remembered;
constexpr std::uint32_t no_row = std::numeric_limits<std::uint32_t>::max();

/// Numbers that are on their way into the cache while clients are summed: enough that memory answers in time, few
/// enough that the second cache holds them.
constexpr std::size_t fetched_at_once = 2048;

/// Of longer vectors the processor sees by itself what comes next.
constexpr std::size_t longest_fetched = 512;

/// Asks for a vector of `length` numbers before it is needed, by as many requests wherever it begins, so that nothing
/// has to be guessed. Into the second cache: it can be waiting for many more lines than the first.
void fetch_ahead(const double* x, std::size_t length) {
  if (length > longest_fetched) return;
  constexpr std::size_t numbers = cache_line / sizeof(double);
  for (std::size_t i = 0; i < length; i += numbers) __builtin_prefetch(x + i, 0, 1);
  __builtin_prefetch(x + length - 1, 0, 1);
}

/// Σ weight × mass in the order of the terms, where a vector's mass is its entry `last`, but that of term `own`.
double sum_of_masses(std::span<const Term> terms, std::size_t last, std::size_t own, double own_mass) {
  double sum = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) sum += terms[i].weight * (i == own ? own_mass : terms[i].x[last]);
  return sum;
}

/// Of `mass`, when shares w_j of `sent` have been given away.
double mass_left(double mass, View shares, double sent) {
  const double one = 1;
  double left = 0;
  what_is_left(mass, &one, shares, &sent, 1, &left);
  return left;
}

}  // namespace

void SynchronousMixer::WeightRows::clear(std::size_t clients) {
  values_.clear();
  row_.clear();
  row_.reserve(clients);
  begin_.assign(1, 0);
  seen_.assign(rows_remembered, no_row);
}

void SynchronousMixer::WeightRows::add(const std::vector<Arc>& arcs) {
  std::uint64_t hash = arcs.size();
  for (const Arc& arc : arcs) hash = (hash ^ std::bit_cast<std::uint64_t>(arc.weight)) * 0x9e3779b97f4a7c15U;
  std::uint32_t& seen = seen_[hash >> (64 - bits_of_rows_remembered)];
  const auto same = [](double weight, const Arc& arc) {
    return std::bit_cast<std::uint64_t>(weight) == std::bit_cast<std::uint64_t>(arc.weight);
  };
  const auto is_seen = [&] {
    const auto begin = values_.begin() + begin_[seen];
    return std::equal(begin, values_.begin() + begin_[seen + 1], arcs.begin(), arcs.end(), same);
  };
  if (seen == no_row || !is_seen()) {
    seen = static_cast<std::uint32_t>(begin_.size() - 1);
    for (const Arc& arc : arcs) values_.push_back(arc.weight);
    constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
    check(values_.size() <= most, "{} edges at the clients of one rank (at most {}) start more ranks", values_.size(),
          most);
    begin_.push_back(static_cast<std::uint32_t>(values_.size()));
  }
  row_.push_back(seen);
}

void SynchronousMixer::Weights::clear(std::size_t clients) {
  in.clear(clients);
  out.clear(clients);
  for (std::vector<double>* each : {&own, &share}) {
    each->clear();
    each->reserve(clients);
  }
  own_place.clear();
  own_place.reserve(clients);
}

void SynchronousMixer::Weights::add(const Links& links, Client u) {
  own.push_back(links.own);
  share.push_back(links.share);
  const auto before = [u](const Arc& arc) { return arc.peer < u; };
  own_place.push_back(static_cast<std::uint32_t>(std::count_if(links.in.begin(), links.in.end(), before)));
  in.add(links.in);
  out.add(links.out);
}

SynchronousMixer::SynchronousMixer(Neighbours& neighbours, const Schedule& schedule, const MixingSettings& settings)
    : neighbours_(neighbours),
      schedule_(schedule),
      settings_(settings),
      length_(neighbours.length() / (settings.running_sums ? 2 : 1)),
      left_(length_),
      sum_(length_) {
  const Round period = schedule.period();
  stages_.resize(period >= 1 && period <= longest_kept_period ? static_cast<std::size_t>(period) : 1);
  if (settings_.running_sums) sums_.resize(neighbours.count());
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
  links.share *= 1 - settings_.lazy;
  links.own = settings_.lazy + (1 - settings_.lazy) * links.own;
  return links;
}

// Clients' links come one after the other: all at once would take more room than models.
void SynchronousMixer::make_stage(std::optional<Stage>& stage, Round step) {
  Weights weights;
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

// message = share (w z, w). What a client keeps is what the others leave, so that no rounding loses mass. It takes the
// place of (z, w) while both are at hand, but for z of those who may have to stay with it.
void SynchronousMixer::split(const Stage& stage, std::size_t k, MutableView z, double& mass, MutableView message) {
  const std::size_t d = z.size();
  const View given = stage.weights.out[k];
  const double w = mass;
  const double share = w < negligible_mass ? 0 : stage.weights.share[k];
  message[d] = share * w;
  mass = mass_left(w, given, message[d]);
  const bool stays = mass < negligible_mass || stage.weights.is_alone(k);
  if (stays) staying_.push_back({k, w});
  if (!stays) return give_away(w, share, z.data(), given, d, message.data());
  for (std::size_t i = 0; i < d; ++i) message[i] = share * (w * z[i]);
}

// Messages that get lost add to the sums too, and leave the sender all the same. Mass becomes what the client keeps.
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

/// Those of client k, the whole list in the order of senders; `own` is where its own part is.
void SynchronousMixer::list_terms(const Stage& stage, const Received& received, std::size_t k, const double* own) {
  const Weights& weights = stage.weights;
  const View in = weights.in[k];
  const std::size_t count = in.size();
  const bool whole = settings_.mixing == Mixing::push_sum;  // its part is weighted before
  const Term own_term{whole ? 1 : weights.own[k], own};
  terms_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    if (i == weights.own_place[k]) terms_.push_back(own_term);
    terms_.push_back({in[i], received(k, i).data()});
  }
  if (count == weights.own_place[k]) terms_.push_back(own_term);
}

// While clients are summed the vectors of the next ones are fetched: they lie anywhere in memory.
void SynchronousMixer::mix_block(const Stage& stage, Columns& state, Vector& mass) {
  const Received received = neighbours_.received(stage.plan);
  const std::size_t clients = state.size();
  const auto entries = [&](std::size_t k) { return stage.weights.in[k].size() * length_; };
  std::size_t next = 0;  // of those not asked for
  std::size_t fetched = 0;
  auto staying = staying_.begin();
  for (std::size_t k = 0; k < clients; ++k) {
    for (; next < clients && (next <= k + 1 || fetched < fetched_at_once); ++next) {
      for (std::size_t i = 0; i < stage.weights.in[next].size(); ++i) fetch_ahead(received(next, i).data(), length_);
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

// x_u = Σ_v A[u,v] z_v in sender order (method 1, mixing, plain).
void SynchronousMixer::mix_plain(MutableView x) {
  weighted_sum(terms_, 0, x.size(), 1, x.data());
}

// s_u = Σ_v A[u,v] w_v z_v,  w_u ← Σ_v A[u,v] w_v,  x_u = s_u / w_u  (method 1, mixing), where x and mass are at first
// what u has kept. Shares are applied to what each sender sent once, in sender order.
void SynchronousMixer::mix_push_sum(const Stage& stage, std::size_t k, MutableView x, double& mass) {
  mass = sum_of_masses(terms_, x.size(), stage.weights.own_place[k], mass);
  weighted_sum(terms_, 0, x.size(), mass, x.data());
}

// The same, where x is still z. A client that has given its mass away and got none keeps its model, which then counts
// for nothing.
void SynchronousMixer::mix_staying(const Stage& stage, const Staying& staying, MutableView x, double& mass) {
  const std::size_t k = staying.client;
  if (stage.weights.is_alone(k)) {
    mass = staying.mass;
    return;
  }
  const std::size_t own = stage.weights.own_place[k];
  mass = sum_of_masses(terms_, x.size(), own, mass);
  if (mass < negligible_mass) return;
  what_is_left(staying.mass, x.data(), stage.weights.out[k], outgoing_->value()[k].data(), x.size(), left_.data());
  terms_[own].x = left_.data();
  weighted_sum(terms_, 0, x.size(), mass, x.data());
}

/// Mass that in-neighbours' sums have in store for client k.
double SynchronousMixer::new_mass(const Links& links, const Received& received, std::size_t k) const {
  double mass = 0;
  for (std::size_t i = 0; i < links.in.size(); ++i) mass += sums_[k].new_mass(links.in[i].peer, received(k, i));
  return mass;
}

// The same as push-sum, where the mass is at first what the client has kept, of model x. Sums with too little to make a
// model of are not accepted: what is new in them will be new in the next ones.
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

// Traffic is counted when a plan goes.
void SynchronousMixer::finish(Holdings&) {
  for (auto& stage : stages_) stage.reset();
  outgoing_ = nullptr;
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
