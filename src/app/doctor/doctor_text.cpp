#include "doctor_text.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "report/view/summary_view.hpp"

namespace starling {

namespace {

constexpr std::size_t most_listed = 5;

std::vector<Route> slowest_ways(const LaunchFacts& facts) {
  std::vector<Route> ways;
  std::ranges::copy_if(facts.ways, std::back_inserter(ways), [](const Route& way) { return way.seconds.has_value(); });
  std::ranges::stable_sort(ways, [](const Route& a, const Route& b) { return *a.seconds > *b.seconds; });
  ways.resize(std::min(ways.size(), most_listed));
  return ways;
}

std::string table_of_ways(const LaunchFacts& facts) {
  const std::vector<Route> ways = slowest_ways(facts);
  if (ways.size() < 2) return "";
  std::string text = "\nslowest edges, one way\n";
  for (const Route& way : ways) {
    const auto host = [&](int rank) { return facts.ranks[static_cast<std::size_t>(rank)].host; };
    text += fmt::format("  {:>10.2f} us  rank {} on {} to rank {} on {}\n", 1e6 * *way.seconds, way.from,
                        host(way.from), way.to, host(way.to));
  }
  return text;
}

std::string last_sentence(const std::vector<Examined>& checks) {
  const auto count = [&](Verdict verdict) {
    return std::ranges::count_if(checks, [&](const Examined& each) { return each.finding.verdict == verdict; });
  };
  const auto bad = count(Verdict::bad);
  const auto look = count(Verdict::look);
  if (bad + look == 0) return "\nnothing stands in the way of a run\n";
  return fmt::format("\n{} bad, {} to look at\n", bad, look);
}

Json of_rank(const RankFacts& rank) {
  return {{"host", rank.host},
          {"version", rank.version},
          {"build", rank.build},
          {"mpi", rank.mpi},
          {"threads", rank.threads},
          {"hdf5", rank.hdf5},
          {"launched", rank.launched},
          {"cpus_of_host", rank.cpus_of_host},
          {"cpus", rank.cpus},
          {"yields", rank.yields},
          {"memory", rank.memory},
          {"shared_memory", rank.shared_memory},
          {"free_space", rank.free_space}};
}

}  // namespace

std::vector<Examined> examine(const LaunchFacts& facts) {
  std::vector<Examined> checks;
  for (const DoctorCheck& check : doctor_checks()) checks.push_back({check.name, check.judge(facts)});
  return checks;
}

std::string in_seconds(double seconds) {
  const double size = std::abs(seconds);
  if (size < 1e-6) return fmt::format("{:.3g} ns", 1e9 * seconds);
  if (size < 1e-3) return fmt::format("{:.3g} us", 1e6 * seconds);
  return size < 1 ? fmt::format("{:.3g} ms", 1e3 * seconds) : fmt::format("{:.3g} s", seconds);
}

Verdict verdict_of(const std::vector<Examined>& checks) {
  Verdict worst = Verdict::ok;
  for (const Examined& each : checks) worst = std::max(worst, each.finding.verdict);
  return worst;
}

std::string doctor_table(const LaunchFacts& facts, const std::vector<Examined>& checks) {
  std::string text;
  for (const auto& [name, finding] : checks) {
    text += fmt::format("{:<12}{:<6}{}\n", name, name_of(finding.verdict), finding.value);
    if (!finding.advice.empty()) text += fmt::format("{:<18}{}\n", "", finding.advice);
  }
  return text + table_of_ways(facts) + last_sentence(checks);
}

std::string doctor_json(const LaunchFacts& facts, const std::vector<Examined>& checks) {
  const Json json{
      {"verdict", name_of(verdict_of(checks))},
      {"checks", json_list(checks,
                           [](const Examined& each) {
                             return Json{{"name", each.name},
                                         {"verdict", name_of(each.finding.verdict)},
                                         {"value", each.finding.value},
                                         {"advice", each.finding.advice}};
                           })},
      {"graph", facts.graph},
      {"directory", facts.directory},
      {"clients", facts.clients},
      {"ranks", json_list(facts.ranks, of_rank)},
      {"clocks", json_list(facts.clocks,
                           [](const ClockSkew& skew) {
                             return Json{{"seconds", skew.seconds}, {"uncertainty", skew.uncertainty}};
                           })},
      {"edges",
       json_list(facts.ways,
                 [](const Route& way) {
                   return Json{{"from", way.from}, {"to", way.to}, {"vectors", way.vectors}, {"seconds", way.seconds}};
                 })},
      {"exchange", facts.exchange}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace starling
