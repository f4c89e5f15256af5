#include "doctor_checks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/ranges.h>

#include "doctor_text.hpp"

namespace starling {

namespace {

constexpr double mebibyte = 1 << 20;
constexpr double gibibyte = 1 << 30;
constexpr double little_memory = 256 * mebibyte;  ///< of a rank: 64 MB of records, as much again, and the libraries
constexpr double no_memory = 64 * mebibyte;
constexpr double little_shared_memory = 16 * mebibyte;
constexpr double no_shared_memory = 5 * mebibyte;  // less than a rank's segment of Open MPI
constexpr double little_space = gibibyte;
constexpr double no_space = 16 * mebibyte;
constexpr double visible_skew = 0.1;  ///< seconds; beyond, files of one run have dates that contradict each other
constexpr double wrong_clock = 60;
constexpr double slow_exchange = 1e-3;
constexpr double unbearable_exchange = 0.1;
constexpr double slow_among_others = 10;  ///< times the median edge
constexpr double short_anyway = 1e-4;     ///< seconds that no edge is called slow for

using Hosts = std::map<std::string, std::vector<std::size_t>>;

/// The ranks of each host.
Hosts hosts_of(const LaunchFacts& facts) {
  Hosts hosts;
  for (std::size_t r = 0; r < facts.ranks.size(); ++r) hosts[facts.ranks[r].host].push_back(r);
  return hosts;
}

std::string in_bytes(double bytes) {
  return bytes < gibibyte ? fmt::format("{:.0f} MB", bytes / mebibyte) : fmt::format("{:.1f} GB", bytes / gibibyte);
}

std::string rank_on_host(const LaunchFacts& facts, int rank) {
  return fmt::format("rank {} on {}", rank, facts.ranks[static_cast<std::size_t>(rank)].host);
}

/// "rank 3 on b", "rank 3 on b and 4 others".
std::string named(const LaunchFacts& facts, const std::vector<std::size_t>& ranks) {
  const std::string first = rank_on_host(facts, static_cast<int>(ranks.front()));
  return ranks.size() == 1 ? first : fmt::format("{} and {}", first, counted(ranks.size() - 1, "other"));
}

/// Finds a CPU for a rank, moving other ranks to other CPUs if necessary.
bool find_cpu(std::size_t rank, const std::vector<std::vector<int>>& cpus, std::map<int, std::size_t>& owner,
              std::set<int>& tried) {
  for (const int cpu : cpus[rank]) {
    if (!tried.insert(cpu).second) continue;
    const auto taken = owner.find(cpu);
    if (taken == owner.end() || find_cpu(taken->second, cpus, owner, tried)) {
      owner[cpu] = rank;
      return true;
    }
  }
  return false;
}

template <class Condition>
std::vector<std::size_t> ranks_where(const LaunchFacts& facts, const Condition& condition) {
  std::vector<std::size_t> found;
  for (std::size_t r = 0; r < facts.ranks.size(); ++r) {
    if (condition(facts.ranks[r])) found.push_back(r);
  }
  return found;
}

/// Bad where a rank has a problem of this kind, which is the advice; else `value`.
Finding first_problem(const LaunchFacts& facts, std::string RankFacts::*problem, const std::string& value) {
  const auto found = ranks_where(facts, [&](const RankFacts& rank) { return !(rank.*problem).empty(); });
  if (found.empty()) return {value, Verdict::ok, ""};
  return {fmt::format("not on {}", named(facts, found)), Verdict::bad, facts.ranks[found.front()].*problem};
}

Finding judge_build(const LaunchFacts& facts) {
  const RankFacts& first = facts.ranks.front();
  const auto others = ranks_where(facts, [&](const RankFacts& rank) { return rank.build != first.build; });
  if (others.empty()) {
    const char* everywhere = facts.ranks.size() > 1 ? ", the same program on all ranks" : "";
    return {fmt::format("{}, digest {:.12}{}", first.version, first.build, everywhere), Verdict::ok, ""};
  }
  const RankFacts& other = facts.ranks[others.front()];
  return {fmt::format("{}, digest {:.12}; {}: {}, digest {:.12}", first.version, first.build, named(facts, others),
                      other.version, other.build),
          Verdict::bad, "the same bits are promised for one build: install one program for all hosts"};
}

Finding judge_mpi(const LaunchFacts& facts) {
  const RankFacts& first = facts.ranks.front();
  const auto others = ranks_where(facts, [&](const RankFacts& rank) { return rank.mpi != first.mpi; });
  if (others.empty()) return {first.mpi, Verdict::ok, ""};
  return {fmt::format("{}; {}: {}", first.mpi, named(facts, others), facts.ranks[others.front()].mpi), Verdict::bad,
          "libraries of different versions need not understand each other: load the same module on all hosts"};
}

Finding judge_threads(const LaunchFacts& facts) {
  const auto costly = ranks_where(facts, [](const RankFacts& rank) { return rank.threads == "multiple"; });
  if (costly.empty()) return {facts.ranks.front().threads, Verdict::ok, ""};
  return {fmt::format("multiple on {}", named(facts, costly)), Verdict::look,
          "starling asks for single: a setting of the library makes every message dearer (OMPI_MPI_THREAD_LEVEL?)"};
}

Finding judge_ranks(const LaunchFacts& facts) {
  const std::size_t ranks = facts.ranks.size();
  const int launched = facts.ranks.front().launched;
  if (ranks == 1 && launched > 1) {
    return {fmt::format("1, though the launcher started {}", launched), Verdict::bad,
            "each rank is a run of its own: the launcher and MPI do not know each other (srun needs --mpi=pmix)"};
  }
  const Hosts hosts = hosts_of(facts);
  std::size_t least = ranks;
  std::size_t most = 0;
  for (const auto& [host, members] : hosts) {
    least = std::min(least, members.size());
    most = std::max(most, members.size());
  }
  Finding finding{fmt::format("{} on {}", ranks, counted(hosts.size(), "host")), Verdict::ok, ""};
  if (hosts.size() > 1) finding.value += fmt::format(" ({} to {} on each)", least, most);
  if (facts.ranks_with_clients < static_cast<int>(ranks)) {
    finding.verdict = Verdict::look;
    finding.advice = fmt::format("{} host no client and stay idle: {} clients need no more ranks than that",
                                 ranks - static_cast<std::size_t>(facts.ranks_with_clients), facts.clients);
  }
  return finding;
}

Finding judge_cores(const LaunchFacts& facts) {
  Finding finding;
  double most = 0;
  for (const auto& [host, members] : hosts_of(facts)) {
    const RankFacts& first = facts.ranks[members.front()];
    const double load = static_cast<double>(members.size()) / first.cpus_of_host;
    if (load <= most) continue;
    most = load;
    finding = {fmt::format("{} on {} of {}", counted(members.size(), "rank"), counted(first.cpus_of_host, "CPU"), host),
               Verdict::ok, ""};
    if (load <= 1) continue;
    const bool known = first.yields.has_value();
    const bool yields = first.yields.value_or(false);
    finding.value += !known ? "" : yields ? ", ranks that wait yield" : ", ranks that wait do not yield";
    finding.verdict = !known || yields ? Verdict::look : Verdict::bad;
    finding.advice = !known || yields
                         ? "rounds take turns: start no more ranks than CPUs, and let ranks host several clients "
                           "(--clients)"
                         : "a round takes tens of milliseconds so: start no more ranks than CPUs, or unset "
                           "OMPI_MCA_mpi_yield_when_idle, which keeps starling from setting it";
  }
  return finding;
}

Finding judge_binding(const LaunchFacts& facts) {
  std::size_t bound = 0;
  for (const auto& [host, members] : hosts_of(facts)) {
    std::vector<std::vector<int>> cpus;
    std::set<int> of_all;
    for (const std::size_t r : members) {
      cpus.push_back(facts.ranks[r].cpus);
      of_all.insert(cpus.back().begin(), cpus.back().end());
      bound += static_cast<int>(cpus.back().size()) < facts.ranks[r].cpus_of_host ? 1 : 0;
    }
    const auto host_cpus = static_cast<std::size_t>(facts.ranks[members.front()].cpus_of_host);
    const std::size_t served = ranks_with_a_cpu(cpus);
    const std::size_t attainable = std::min(members.size(), host_cpus);
    if (served >= attainable) continue;
    return {fmt::format("{} of {} are bound to {} of its {} CPUs: {}", counted(members.size(), "rank"), host,
                        of_all.size(), host_cpus, fmt::join(of_all, " ")),
            Verdict::bad,
            fmt::format("{} must share a CPU while others are free: mpirun --bind-to core, or --bind-to none (srun "
                        "--cpu-bind=cores, --cpus-per-task)",
                        counted(attainable - served, "rank"))};
  }
  if (bound == 0) return {"none, ranks run on any CPU of their host", Verdict::ok, ""};
  return {
      fmt::format("{} bound to a part of their host's CPUs, none at the expense of another", counted(bound, "rank")),
      Verdict::ok, ""};
}

struct RoomOfRank {
  double bytes = 0;
  std::string host;
};

/// The least that a host has for each of its ranks, of what a rank says that its host has; none where no host says it.
std::optional<RoomOfRank> least_of_hosts(const LaunchFacts& facts, std::optional<std::int64_t> RankFacts::*of_host) {
  std::optional<RoomOfRank> least;
  for (const auto& [host, members] : hosts_of(facts)) {
    const std::optional<std::int64_t>& bytes = facts.ranks[members.front()].*of_host;
    if (!bytes) continue;
    const double of_rank = static_cast<double>(*bytes) / static_cast<double>(members.size());
    if (!least || of_rank < least->bytes) least = {of_rank, host};
  }
  return least;
}

Finding judge_room(const RoomOfRank& room, double little, double none, const std::string& advice) {
  const std::string value = fmt::format("{} for each rank on {}", in_bytes(room.bytes), room.host);
  if (room.bytes >= little) return {value, Verdict::ok, ""};
  return {value, room.bytes < none ? Verdict::bad : Verdict::look, advice};
}

Finding judge_memory(const LaunchFacts& facts) {
  const std::optional<RoomOfRank> room = least_of_hosts(facts, &RankFacts::memory);
  if (!room) return {"unknown", Verdict::look, "the system does not say how much there is (/proc/meminfo)"};
  return judge_room(*room, little_memory, no_memory,
                    "records take up to --memory megabytes of a rank, models and messages more: start fewer ranks on "
                    "this host");
}

Finding judge_shared_memory(const LaunchFacts& facts) {
  const std::optional<RoomOfRank> room = least_of_hosts(facts, &RankFacts::shared_memory);
  if (!room) return {"no /dev/shm", Verdict::ok, ""};
  return judge_room(*room, little_shared_memory, no_shared_memory,
                    "MPI passes messages between the ranks of a host through /dev/shm: empty it, or give a "
                    "container more of it");
}

Finding judge_space(const LaunchFacts& facts) {
  std::optional<double> least;
  std::size_t where = 0;
  for (std::size_t r = 0; r < facts.ranks.size(); ++r) {
    const auto& space = facts.ranks[r].free_space;
    if (!space) return {fmt::format("unknown on {}", named(facts, {r})), Verdict::look, "see HDF5"};
    if (least && static_cast<double>(*space) >= *least) continue;
    least = static_cast<double>(*space);
    where = r;
  }
  const std::string value = fmt::format("{} in {}, as {} sees it", in_bytes(*least), facts.directory,
                                        rank_on_host(facts, static_cast<int>(where)));
  if (*least >= little_space) return {value, Verdict::ok, ""};
  return {value, *least < no_space ? Verdict::bad : Verdict::look,
          "records of models grow with the run: choose another --output, or record less (--record-every, "
          "--record-clients)"};
}

Finding judge_hdf5(const LaunchFacts& facts) {
  return first_problem(facts, &RankFacts::disk_problem,
                       fmt::format("{}, written and read back in {}", facts.ranks.front().hdf5, facts.directory));
}

Finding judge_sharing(const LaunchFacts& facts) {
  const std::size_t hosts = hosts_of(facts).size();
  if (!facts.ranks.front().disk_problem.empty())
    return {"unknown: rank 0 has no file there", Verdict::look, "see HDF5"};
  return first_problem(
      facts, &RankFacts::sharing_problem,
      hosts == 1 ? "one host, one directory" : fmt::format("all hosts see the same directory {}", facts.directory));
}

Finding judge_entropy(const LaunchFacts& facts) {
  return first_problem(facts, &RankFacts::entropy_problem, "the system gives random numbers without waiting");
}

Finding judge_clocks(const LaunchFacts& facts) {
  std::size_t worst = 0;
  for (std::size_t r = 1; r < facts.clocks.size(); ++r) {
    if (std::abs(facts.clocks[r].seconds) > std::abs(facts.clocks[worst].seconds)) worst = r;
  }
  const ClockSkew skew = facts.clocks[worst];
  const double least = std::max(std::abs(skew.seconds) - skew.uncertainty, 0.0);
  if (worst == 0) return {"one clock", Verdict::ok, ""};
  Finding finding{
      fmt::format("that of {} differs from rank 0's by {}, give or take {}",
                  rank_on_host(facts, static_cast<int>(worst)), in_seconds(skew.seconds), in_seconds(skew.uncertainty)),
      Verdict::ok, ""};
  if (least < visible_skew) return finding;
  return {finding.value, least < wrong_clock ? Verdict::look : Verdict::bad,
          "dates in ledgers, logs and files of one run will contradict each other (rounds go by no clock): synchronise "
          "the hosts (NTP)"};
}

std::vector<const Route*> measured_ways(const LaunchFacts& facts) {
  std::vector<const Route*> ways;
  for (const Route& way : facts.ways) {
    if (way.seconds) ways.push_back(&way);
  }
  std::ranges::sort(ways, [](const Route* a, const Route* b) { return *a->seconds < *b->seconds; });
  return ways;
}

Finding judge_edges(const LaunchFacts& facts) {
  const std::vector<const Route*> ways = measured_ways(facts);
  if (ways.empty()) return {"none between ranks", Verdict::ok, ""};
  const double median = *ways[ways.size() / 2]->seconds;
  const Route& slowest = *ways.back();
  const std::string which = ways.size() < facts.ways.size() ? fmt::format(" ({} of them timed)", ways.size()) : "";
  const std::string value =
      fmt::format("{} between ranks{}: median {}, slowest {} ({} to {})", facts.ways.size(), which, in_seconds(median),
                  in_seconds(*slowest.seconds), rank_on_host(facts, slowest.from), rank_on_host(facts, slowest.to));
  if (*slowest.seconds < std::max(slow_among_others * median, short_anyway)) return {value, Verdict::ok, ""};
  return {value, Verdict::look,
          "every round waits for its slowest edge: see what its hosts do, and over which network they meet (mpirun "
          "--mca btl_tcp_if_include NET)"};
}

Finding judge_exchange(const LaunchFacts& facts) {
  std::optional<double> longest;
  int where = 0;
  for (std::size_t r = 0; r < facts.exchange.size(); ++r) {
    if (!facts.exchange[r] || (longest && *facts.exchange[r] <= *longest)) continue;
    longest = facts.exchange[r];
    where = static_cast<int>(r);
  }
  if (!longest) return {"no rank hosts a client", Verdict::bad, "the graph has no clients"};
  const std::string value = fmt::format("{} over {}, on {}, which takes longest", in_seconds(*longest), facts.graph,
                                        rank_on_host(facts, where));
  if (*longest < slow_exchange) return {value, Verdict::ok, ""};
  return {value, *longest < unbearable_exchange ? Verdict::look : Verdict::bad,
          "a round takes no less than this: see the rows on CPUs, binding and edges"};
}

}  // namespace

const char* name_of(Verdict verdict) {
  if (verdict == Verdict::ok) return "ok";
  return verdict == Verdict::look ? "look" : "bad";
}

const std::vector<DoctorCheck>& doctor_checks() {
  static const std::vector<DoctorCheck> checks{
      {"starling", "version, and whether all ranks run the same program", judge_build},
      {"MPI", "library and version, the same on all ranks", judge_mpi},
      {"threads", "level that MPI has granted (single is enough, and cheapest)", judge_threads},
      {"ranks", "how many on how many hosts, whether they know each other, and which are idle", judge_ranks},
      {"CPUs", "whether ranks outnumber them on a host, and if so, whether those that wait yield", judge_cores},
      {"binding", "whether ranks are bound to CPUs that others need while some are free", judge_binding},
      {"memory", "what the fullest host has left for each of its ranks", judge_memory},
      {"/dev/shm", "what the fullest host has left there for each of its ranks", judge_shared_memory},
      {"free space", "in the directory of --output", judge_space},
      {"HDF5", "version, and whether a file can be written there and read back", judge_hdf5},
      {"sharing", "whether all hosts see the same directory there", judge_sharing},
      {"entropy", "whether the system gives random numbers without waiting", judge_entropy},
      {"clocks", "the largest difference from rank 0's, with its uncertainty", judge_clocks},
      {"edges", "one-way times between ranks that share an edge, one by one; the slowest with its hosts", judge_edges},
      {"exchange", "time of a whole exchange with all edges at once", judge_exchange},
  };
  return checks;
}

std::string doctor_checks_help() {
  std::string text;
  for (const DoctorCheck& check : doctor_checks()) text += fmt::format("  {:<12} {}\n", check.name, check.help);
  return text;
}

std::size_t ranks_with_a_cpu(const std::vector<std::vector<int>>& cpus_of_ranks) {
  std::map<int, std::size_t> owner;
  std::size_t served = 0;
  for (std::size_t r = 0; r < cpus_of_ranks.size(); ++r) {
    std::set<int> tried;
    served += find_cpu(r, cpus_of_ranks, owner, tried) ? 1 : 0;
  }
  return served;
}

}  // namespace starling
