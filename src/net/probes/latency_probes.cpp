#include "net/probes/latency_probes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "net/agreement.hpp"
#include "net/neighbours/neighbours.hpp"
#include "net/state.hpp"

namespace starling {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int clock_tag = 1;
constexpr int route_tag = 2;
constexpr int clock_pings = 50;
constexpr int warming_pings = 3;  ///< not counted: the first messages of a pair set up its connection
constexpr double most_seconds_per_route = 0.25;
constexpr double seconds_for_clocks = 30;  ///< of all ranks
constexpr Round warming_rounds = 5;
constexpr Round most_rounds = 1'000;
constexpr double unmeasured = -1;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double date() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// The median of at least one number.
double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// One end of a conversation between two ranks.
class Conversation {
 public:
  Conversation(World::State& state, int other, int tag, const char* what)
      : state_(state), other_(other), tag_(tag), what_(what) {}

  void send(View numbers) {
    MPI_Isend(numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE, other_, tag_, state_.data, &request_);
    wait("does not take a message");
  }
  void receive(MutableView numbers) {
    MPI_Irecv(numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE, other_, tag_, state_.data, &request_);
    wait("sends nothing");
  }

 private:
  void wait(const char* problem) {
    state_.wait({&request_, 1}, state_.watchdog,
                [&] { return fmt::format("{}: rank {} {} to rank {}", what_, other_, problem, state_.rank); });
  }

  World::State& state_;
  int other_;
  int tag_;
  const char* what_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Least difference of two dates as doubles, in seconds since 1970, until 2038. Messages may take less.
constexpr double date_resolution = 0x1p-22;

/// Rank 0's side of a clock comparison. The other rank's date counts for the middle of the round trip. A question of 1
/// is the last one.
ClockSkew ask_for_date(World::State& state, int rank, double seconds) {
  Conversation conversation(state, rank, clock_tag, "comparing clocks");
  ClockSkew best{0, std::numeric_limits<double>::infinity()};
  const auto start = Clock::now();
  bool last = false;
  for (int i = 1; !last; ++i) {
    last = i == clock_pings || seconds_since(start) > seconds;
    double number = last ? 1 : 0;
    const double asked = date();
    conversation.send({&number, 1});
    conversation.receive({&number, 1});
    const double half = std::max((date() - asked) / 2, date_resolution);
    if (half < best.uncertainty) best = {number - (asked + half), half};
  }
  return best;
}

void tell_date(World::State& state) {
  Conversation conversation(state, 0, clock_tag, "comparing clocks");
  for (bool last = false; !last;) {
    double number = 0;
    conversation.receive({&number, 1});
    last = number != 0;
    number = date();
    conversation.send({&number, 1});
  }
}

/// Number of different vectors that this rank sends to each other rank, in the round that has most of them.
std::map<int, std::size_t> own_routes(int rank, const Layout& layout, const OwnLinks& links, Round rounds) {
  std::map<int, std::size_t> most;
  for (Round t = 0; t < rounds; ++t) {
    std::map<int, std::size_t> vectors;
    for (const Links& each : links(t)) {
      int before = rank;
      for (const Arc& arc : each.out) {  // ascending, and so are their ranks
        const int to = layout.rank_of(arc.peer);
        if (to != rank && to != before) ++vectors[to];
        before = to;
      }
    }
    for (const auto& [to, count] : vectors) most[to] = std::max(most[to], count);
  }
  return most;
}

/// The routes of all ranks, the same on all ranks.
std::vector<Route> all_routes(Agreement& agreement, const Layout& layout, const OwnLinks& links, Round rounds) {
  Vector own;
  for (const auto& [to, vectors] : own_routes(agreement.rank(), layout, links, rounds)) {
    own.insert(own.end(), {static_cast<double>(to), static_cast<double>(vectors)});
  }
  std::vector<Route> routes;
  int from = 0;
  for (const Vector& part : agreement.all_gather(Released<Vector>(declare_public(own)))) {
    for (std::size_t i = 0; i + 1 < part.size(); i += 2) {
      routes.push_back({from, static_cast<int>(part[i]), static_cast<std::size_t>(part[i + 1]), std::nullopt});
    }
    ++from;
  }
  return routes;
}

/// Throws UsageError on all ranks alike for a message beyond MPI's count. Neighbours' messages have the same lengths.
void require_lengths(const std::vector<Route>& routes, std::size_t length) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<int>::max());
  for (const Route& route : routes) {
    check(route.vectors <= most / length,
          "a message from rank {} to rank {} has {} vectors of {} numbers: the most that MPI counts are {}. Start more "
          "ranks, or make models smaller.",
          route.from, route.to, route.vectors, length, most);
  }
}

/// Indices of the routes to probe. Every beginning of the list is evenly spaced among all routes (golden section
/// steps).
std::vector<std::size_t> chosen_routes(std::size_t routes) {
  const std::size_t count = std::min(routes, most_probed_routes);
  auto step = static_cast<std::size_t>(std::lround(0.618 * static_cast<double>(count)));
  while (count > 0 && std::gcd(step, count) != 1) ++step;
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(i * step % count * routes / count);
  return chosen;
}

/// The first number of a message says whether another one follows.
double ping(World::State& state, const Route& route, std::size_t length, int pings, double seconds) {
  Conversation conversation(state, route.to, route_tag, "timing an edge");
  Vector message(route.vectors * length);
  std::vector<double> halves;
  const auto start = Clock::now();
  for (int i = 0; i < warming_pings + pings && message[0] == 0; ++i) {
    message[0] = i + 1 == warming_pings + pings || seconds_since(start) > seconds ? 1 : 0;
    const auto sent = Clock::now();
    conversation.send(message);
    conversation.receive(message);
    if (i == warming_pings) halves.clear();
    halves.push_back(seconds_since(sent) / 2);
  }
  return median(halves);
}

void answer(World::State& state, const Route& route, std::size_t length) {
  Conversation conversation(state, route.from, route_tag, "timing an edge");
  Vector message(route.vectors * length);
  while (message[0] == 0) {
    conversation.receive(message);
    conversation.send(message);
  }
}

/// Exchanges like those of a run, with the duration of each.
class Exchanges {
 public:
  Exchanges(World& world, const Layout& layout, const OwnLinks& links, Round rounds, std::size_t length)
      : neighbours_(world, layout, length, ExchangeWay::automatic),
        links_(links),
        rounds_(rounds),
        plan_(neighbours_.plan(links(0), rounds == 1 ? PlanUse::fixed_graph : PlanUse::changing_graph)) {}

  void play(Round count) {
    seconds_.clear();
    for (const Round end = t_ + count; neighbours_.count() > 0 && t_ < end && neighbours_.begin_round(t_); ++t_) {
      if (rounds_ > 1) neighbours_.plan_again(plan_, links_(t_ % rounds_));
      if (rounds_ > 1 || t_ == 0) note_foreign(links_(t_ % rounds_));
      exchange();
    }
  }

  /// Median of the last `play`; none without rounds.
  [[nodiscard]] std::optional<double> median_seconds() const {
    return seconds_.empty() ? std::nullopt : std::optional(median(seconds_));
  }

 private:
  /// Notes the vectors that come from other ranks, once for each sender.
  void note_foreign(const std::vector<Links>& own) {
    std::map<Client, std::pair<std::size_t, std::size_t>> found;
    const Client first = neighbours_.first();
    const Client end = first + static_cast<Client>(neighbours_.count());
    for (std::size_t k = 0; k < own.size(); ++k) {
      for (std::size_t i = 0; i < own[k].in.size(); ++i) {
        const Client peer = own[k].in[i].peer;
        if (peer < first || peer >= end) found.try_emplace(peer, k, i);
      }
    }
    foreign_.clear();
    for (const auto& [peer, place] : found) foreign_.push_back(place);
  }
  /// Times an exchange until all vectors of other ranks have been read: shared windows move data only on reading.
  void exchange() {
    Released<Columns>& outgoing = neighbours_.outgoing(t_, plan_);
    outgoing.update([&](Columns& block) { std::fill(block.flat().begin(), block.flat().end(), read_); });
    const auto start = Clock::now();
    neighbours_.exchange(t_, plan_, outgoing);
    const Received received = neighbours_.received(plan_);
    double total = 0;
    for (const auto& [k, i] : foreign_) total += sum(received(k, i));
    seconds_.push_back(seconds_since(start));
    read_ = std::min(total, 1.0);
  }

  Neighbours neighbours_;
  const OwnLinks& links_;
  Round rounds_;
  Neighbours::Plan plan_;
  std::vector<std::pair<std::size_t, std::size_t>> foreign_;  ///< client of this rank, number of its in-neighbour
  Round t_ = 0;
  double read_ = 0;  ///< sum of the last vectors, written in the next round: the compiler cannot drop the reading
  std::vector<double> seconds_;
};

std::vector<std::optional<double>> of_all_ranks(Agreement& agreement, const std::optional<double>& own) {
  std::vector<std::optional<double>> result;
  for (const Vector& part : agreement.all_gather(Released<Vector>(declare_public(Vector{own.value_or(unmeasured)})))) {
    result.push_back(part[0] == unmeasured ? std::nullopt : std::optional(part[0]));
  }
  return result;
}

}  // namespace

std::string thread_level() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level == MPI_THREAD_SINGLE) return "single";
  if (level == MPI_THREAD_FUNNELED) return "funneled";
  return level == MPI_THREAD_SERIALIZED ? "serialized" : "multiple";
}

std::string host_name() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  MPI_Get_processor_name(name.data(), &length);
  return {name.data(), static_cast<std::size_t>(length)};
}

std::optional<bool> yields_when_idle() {
  int provided = 0;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return std::nullopt;
  std::optional<bool> result;
  int index = 0;
  int count = 0;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  if (MPI_T_cvar_get_index("mpi_yield_when_idle", &index) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS) {
    std::array<int, 16> value{};
    if (count == 1 && MPI_T_cvar_read(handle, value.data()) == MPI_SUCCESS) result = value[0] != 0;
    MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_finalize();
  return result;
}

std::vector<ClockSkew> measure_clock_skews(World& world) {
  World::State& state = world.state();
  Agreement agreement(world);
  agreement.barrier();
  const double of_one = std::min(most_seconds_per_route, seconds_for_clocks / state.size);
  Vector found(2);
  for (int r = 1; state.rank == 0 && r < state.size; ++r) {
    const ClockSkew skew = ask_for_date(state, r, of_one);
    found.insert(found.end(), {skew.seconds, skew.uncertainty});
  }
  if (state.rank > 0) tell_date(state);
  const std::vector<Vector> all = agreement.all_gather(Released<Vector>(declare_public(found)));
  std::vector<ClockSkew> skews;
  for (std::size_t i = 0; i + 1 < all[0].size(); i += 2) skews.push_back({all[0][i], all[0][i + 1]});
  return skews;
}

std::vector<Route> probe_routes(World& world, const Layout& layout, const OwnLinks& links, Round rounds,
                                std::size_t length, const ProbeBudget& budget) {
  World::State& state = world.state();
  Agreement agreement(world);
  std::vector<Route> routes = all_routes(agreement, layout, links, rounds);
  agreement.together([&] { require_lengths(routes, length); });
  const std::vector<std::size_t> chosen = chosen_routes(routes.size());
  const double of_one = std::min(most_seconds_per_route, budget.seconds / static_cast<double>(chosen.size()));
  const auto start = Clock::now();
  std::size_t probed = 0;
  Vector own;
  for (; probed < chosen.size(); ++probed) {
    // Rank 0's clock is everybody's.
    const bool late = probed > 0 && seconds_since(start) > budget.seconds;
    if (agreement.broadcast(declare_public(late))) break;
    if (budget.progress) budget.progress(probed, chosen.size());
    const Route& route = routes[chosen[probed]];
    agreement.barrier();
    if (state.rank == route.from) own.push_back(ping(state, route, length, budget.pings, of_one));
    if (state.rank == route.to) answer(state, route, length);
  }
  const std::vector<Vector> all = agreement.all_gather(Released<Vector>(declare_public(own)));
  std::vector<std::size_t> taken(all.size(), 0);
  for (std::size_t i = 0; i < probed; ++i) {
    Route& route = routes[chosen[i]];
    const auto from = static_cast<std::size_t>(route.from);
    route.seconds = all[from][taken[from]++];
  }
  return routes;
}

double probe_message(World& world, int from, int to) {
  constexpr int pings = 2'000;
  World::State& state = world.state();
  Agreement agreement(world);
  const Route route{from, to, 1, std::nullopt};
  Vector own;
  agreement.barrier();
  if (state.rank == from) own.push_back(ping(state, route, 1, pings, most_seconds_per_route));
  if (state.rank == to) answer(state, route, 1);
  return agreement.all_gather(Released<Vector>(declare_public(own)))[static_cast<std::size_t>(from)].front();
}

std::vector<std::optional<double>> probe_exchange(World& world, const Layout& layout, const OwnLinks& links,
                                                  Round rounds, std::size_t length) {
  Agreement agreement(world);
  Exchanges exchanges(world, layout, links, rounds, length);
  agreement.barrier();
  exchanges.play(warming_rounds);
  double slowest = 1e-9;
  for (const auto& seconds : of_all_ranks(agreement, exchanges.median_seconds())) {
    slowest = std::max(slowest, seconds.value_or(0));
  }
  exchanges.play(static_cast<Round>(std::clamp(1 / slowest, 5.0, static_cast<double>(most_rounds))));
  return of_all_ranks(agreement, exchanges.median_seconds());
}

}  // namespace starling
