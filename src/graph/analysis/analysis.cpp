#include "graph/analysis/analysis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/random.hpp"
#include "graph/analysis/connectivity.hpp"
#include "graph/analysis/spectrum.hpp"

namespace starling {

namespace {

using Values = std::vector<double>;
constexpr double far_enough = 1e-9;
constexpr double wanted = 1e-3;

Values mixed(const Topology& topology, std::size_t phase, const Values& x) {
  Values y(x.size());
  for (std::size_t u = 0; u < x.size(); ++u) {
    const Topology::Row row = topology.row(phase, static_cast<Client>(u));
    y[u] = row.own * x[u];
    for (std::size_t k = 0; k < row.in.size(); ++k) {
      y[u] += row.in.weight(k) * x[static_cast<std::size_t>(row.in.peer(k))];
    }
  }
  return y;
}

/// Span of the ratios: largest minus least. The span never rises under push-sum.
double span(const Values& s, const Values& w) {
  double least = s[0] / w[0];
  double most = least;
  for (std::size_t u = 1; u < s.size(); ++u) {
    least = std::min(least, s[u] / w[u]);
    most = std::max(most, s[u] / w[u]);
  }
  return most - least;
}

constexpr Client dense_limit = 1'000;
/// Least distance below zero of the log of a period's eigenvalue that is told from the eigenvalue one.
constexpr double resolution = 1e-11;

Range range_of_sums(const Topology& topology, double (*sum)(const Topology::Row&)) {
  Range range{std::numeric_limits<double>::infinity(), 0};
  for (std::size_t phase = 0; phase < topology.phases(); ++phase) {
    for (Client u = 0; u < topology.clients(); ++u) {
      const double value = sum(topology.row(phase, u));
      range.min = std::min(range.min, value);
      range.max = std::max(range.max, value);
    }
  }
  return range;
}

void analyse_connectivity(const Topology& topology, TopologyAnalysis& result) {
  for (std::size_t phase = 0; phase < topology.phases(); ++phase) {
    result.strongly_connected.push_back(strongly_connected(topology, phase));
  }
  result.joint_window = joint_window(topology);
  if (!result.joint_window) result.apart = why_apart(topology);
  if (topology.phases() == 1 && topology.clients() > dense_limit) {
    result.edges = static_cast<std::int64_t>(topology.receivers(0).peers.size());
    return;
  }
  PhaseUnion some(topology);
  result.edges = static_cast<std::int64_t>(some.distinct_edges());
  if (topology.clients() > dense_limit) return;
  for (std::size_t phase = 0; phase < topology.phases(); ++phase) some.add(phase);
  result.diameter = some.diameter();
}

PerronSide side_of(const TopologyAnalysis& sums) {
  if (sums.receiver_sums.is_one()) return sums.sender_sums.is_one() ? PerronSide::both : PerronSide::left;
  return sums.sender_sums.is_one() ? PerronSide::right : PerronSide::free;
}

double bias_of(const std::vector<double>& perron) {
  double bias = perron.empty() ? std::numeric_limits<double>::quiet_NaN() : 0;
  for (const double share : perron) bias = std::max(bias, std::abs(static_cast<double>(perron.size()) * share - 1));
  return bias;
}

void analyse_rate(const Spectrum& spectrum, Round period, TopologyAnalysis& result) {
  const double root = 1 / static_cast<double>(spectrum.rounds);
  const double of_round = root * std::log(spectrum.second);
  result.contraction = std::pow(spectrum.second, root);
  result.gap = -std::expm1(of_round);
  if (spectrum.tolerance > 0) {
    result.contraction_tolerance = std::pow(spectrum.second + spectrum.tolerance, root) - result.contraction;
  }
  if (!result.joint_window) return;
  if (spectrum.exact_after) {
    result.rounds_to_1e_3 = spectrum.rounds * *spectrum.exact_after;
    return;
  }
  if (of_round * static_cast<double>(period) < -resolution) {  // false for NaN too
    const double rounds = std::ceil(std::log(1e-3) / of_round - 1e-9);
    constexpr Round most = std::numeric_limits<Round>::max();
    const Round at_this_rate = rounds < static_cast<double>(most) ? static_cast<Round>(rounds) : most;
    // A rate says nothing of the rounds before every client has heard of every other.
    result.rounds_to_1e_3 = std::max(*result.joint_window, at_this_rate);
  }
}

TopologyAnalysis sums_of(const Topology& topology) {
  TopologyAnalysis result;
  result.sender_sums = range_of_sums(topology, sender_sum);
  result.receiver_sums = range_of_sums(topology, receiver_sum);
  return result;
}

}  // namespace

MeasuredRate measure_rate(const Topology& topology, Round rounds) {
  Values s;
  for (Client u = 0; u < topology.clients(); ++u) {
    s.push_back(AddressedRandom(1, Purpose::experiment, static_cast<std::uint64_t>(u), 0).uniform());
  }
  Values w(s.size(), 1);
  const double start = span(s, w);
  MeasuredRate rate;
  if (start <= 0) return {0, 1};  // one client
  std::size_t phase = 0;
  Round left = topology.phase_rounds(phase);
  for (Round done = 1; done <= rounds; ++done) {
    s = mixed(topology, phase, s);
    w = mixed(topology, phase, w);
    const double fallen = span(s, w) / start;
    if (fallen <= wanted && !rate.rounds_to_1e_3) rate.rounds_to_1e_3 = done;
    rate.contraction = std::pow(fallen, 1 / static_cast<double>(done));
    if (fallen <= far_enough) break;
    if (--left > 0) continue;
    phase = (phase + 1) % topology.phases();
    left = topology.phase_rounds(phase);
  }
  if (!rate.rounds_to_1e_3 && rate.contraction < 1) {
    rate.rounds_to_1e_3 = static_cast<Round>(std::ceil(std::log(wanted) / std::log(rate.contraction)));
  }
  return rate;
}

std::string why_no_agreement(const TopologyAnalysis& analysis) {
  if (!analysis.joint_window) {
    return "the union of all phases is not strongly connected: " + analysis.apart;
  }
  if (!analysis.rounds_to_1e_3 && !std::isnan(analysis.contraction)) {
    return "disagreement never falls: values change places for ever. Give clients self loops.";
  }
  return "";
}

TopologyAnalysis analyse(const Topology& topology) {
  TopologyAnalysis result = sums_of(topology);
  analyse_connectivity(topology, result);
  const auto spectrum_of = topology.clients() <= dense_limit ? dense_spectrum : iterated_spectrum;
  Spectrum spectrum = spectrum_of(topology, side_of(result), result.joint_window.has_value());
  analyse_rate(spectrum, topology.period(), result);
  result.perron = std::move(spectrum.perron);
  result.bias = bias_of(result.perron);
  return result;
}

std::string why_no_agreement(const Graph& graph) {
  // By the other rules every client keeps a share of its own in each round.
  if (graph.rule() != WeightRule::explicit_weights) return "";
  if (graph.clients() > most_clients_analysed || graph.period() == 0) return "";
  return why_no_agreement(analyse(GraphSample(graph)));
}

std::optional<Round> joint_window_of(const Graph& graph) {
  if (graph.clients() > most_clients_analysed || graph.period() == 0) return std::nullopt;
  return joint_window(GraphSample(graph).topology());
}

std::optional<double> contraction_of(const Graph& graph) {
  constexpr Round telling = 128;
  if (graph.clients() > most_clients_of_contraction) return std::nullopt;
  const GraphSample sample(graph);
  if (graph.clients() > most_clients_analysed || sample.rounds())
    return measure_rate(sample.topology(), telling).contraction;
  const double contraction = analyse(sample).contraction;
  return std::isnan(contraction) ? std::nullopt : std::optional(contraction);
}

TopologyAnalysis analyse(const GraphSample& sample) {
  const Topology& topology = sample.topology();
  if (!sample.rounds()) return analyse(topology);
  TopologyAnalysis result = sums_of(topology);
  analyse_connectivity(topology, result);
  const MeasuredRate rate = measure_rate(topology, topology.period());
  result.contraction = rate.contraction;
  result.gap = 1 - rate.contraction;
  result.rounds_to_1e_3 = rate.rounds_to_1e_3;
  const auto n = static_cast<std::size_t>(topology.clients());
  if (side_of(result) == PerronSide::both) result.perron.assign(n, 1 / static_cast<double>(n));
  result.bias = bias_of(result.perron);
  return result;
}

}  // namespace starling
