// `starling topology check`.
#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <utility>

#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "console/print.hpp"
#include "core/check.hpp"
#include "graph/analysis/analysis.hpp"
#include "report/view/summary_view.hpp"
#include "run/settings/catalogue.hpp"

namespace starling {

namespace {

nlohmann::json to_json(const Graph& graph, const GraphSample& sample, const TopologyAnalysis& analysis) {
  const auto range = [](const Range& sums) { return nlohmann::json{{"min", sums.min}, {"max", sums.max}}; };
  return {{"clients", graph.clients()},
          {"phases", sample.topology().phases()},
          {"sampled_rounds", sample.rounds()},
          {"edges", analysis.edges},
          {"sender_sums", range(analysis.sender_sums)},
          {"receiver_sums", range(analysis.receiver_sums)},
          {"strongly_connected", analysis.strongly_connected},
          {"joint_window", analysis.joint_window},
          {"perron", analysis.perron},
          {"bias", number_json(analysis.bias)},
          {"contraction", number_json(analysis.contraction)},
          {"spectral_gap", number_json(analysis.gap)},
          {"contraction_tolerance", analysis.contraction_tolerance},
          {"rounds_to_1e-3", analysis.rounds_to_1e_3},
          {"digest", graph.digest()}};
}

std::string shown(const std::optional<std::int64_t>& value, std::string_view otherwise) {
  return value ? fmt::format("{}", *value) : std::string(otherwise);
}

std::string shown(const Range& sums) {
  return sums.is_one() ? "1" : fmt::format("{:.6g} to {:.6g}", sums.min, sums.max);
}

/// "yes", "no" or "in 1 of 2 phases".
std::string shown(const std::vector<bool>& connected) {
  const auto count = std::ranges::count(connected, true);
  if (connected.size() == 1) return count == 1 ? "yes" : "no";
  return fmt::format("in {} of {} phases", count, connected.size());
}

std::string shares(const std::vector<double>& perron) {
  constexpr std::size_t most = 10;
  if (perron.empty()) return "none";
  std::string text;
  for (std::size_t u = 0; u < std::min(most, perron.size()); ++u) {
    text += fmt::format("{}{:.4g}", u == 0 ? "" : " ", static_cast<double>(perron.size()) * perron[u]);
  }
  return perron.size() > most ? text + " … (all of them with --json)" : text;
}

std::string rate(const TopologyAnalysis& analysis) {
  const double tolerance = analysis.contraction_tolerance;
  if (std::isnan(analysis.contraction)) return "not resolved (too many clients for mixing this slow)";
  const std::string within = tolerance > 0 ? fmt::format(" ± {:.1g}", tolerance) : "";
  const bool falls = analysis.rounds_to_1e_3.has_value();
  const std::string figure = analysis.contraction > 0.9995 && falls ? fmt::format("1 - {:.3g}", analysis.gap)
                                                                    : fmt::format("{:.4f}", analysis.contraction);
  return fmt::format("{}{} (of disagreement, per round{})", figure, within, tolerance > 0 ? "; by iterations" : "");
}

std::string phases(const GraphSample& sample) {
  if (sample.rounds()) return fmt::format("another each round; below, what the first {} are like", *sample.rounds());
  return fmt::format("{}, repeated every {}", sample.topology().phases(), counted(sample.topology().period(), "round"));
}

std::string table_of(const Graph& graph, const GraphSample& sample, const TopologyAnalysis& analysis) {
  const std::string diameter = graph.clients() > 1'000 ? "not computed" : shown(analysis.diameter, "none");
  const std::array<std::pair<std::string_view, std::string>, 13> lines{{
      {"clients", fmt::format("{}", graph.clients())},
      {"phases", phases(sample)},
      {"edges", fmt::format("{} (without self loops, over all phases)", analysis.edges)},
      {"weights", std::string(name_of(graph.rule()))},
      {"sender sums", shown(analysis.sender_sums)},
      {"receiver sums", shown(analysis.receiver_sums)},
      {"strongly connected", shown(analysis.strongly_connected)},
      {"joint window", shown(analysis.joint_window, "none") + " (rounds whose union is strongly connected)"},
      {"diameter", diameter},
      {"limit weight * n", shares(analysis.perron)},
      {"contraction", rate(analysis)},
      {"rounds to 1e-3", shown(analysis.rounds_to_1e_3, "none")},
      {"digest", graph.digest()},
  }};
  std::string text;
  for (const auto& [name, value] : lines) text += fmt::format("  {:<20}{}\n", name, value);
  return text;
}

/// Whether some sums are not one, in the words of the library; empty if all are.
std::string complaint(const Graph& graph, void (Graph::*require)() const) {
  try {
    (graph.*require)();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

/// Sentence about the limit of plain mixing. The sentence names the clients with the largest and the smallest weight.
std::string bias_sentence(const TopologyAnalysis& analysis) {
  const auto& perron = analysis.perron;
  if (perron.empty() || !why_no_agreement(analysis).empty()) return "Plain mixing has no single limit.";
  if (analysis.bias <= sum_tolerance) return "Plain mixing goes to the mean: every client counts the same.";
  const auto [least, most] = std::ranges::minmax_element(perron);
  const auto factor = [&](auto at) { return static_cast<double>(perron.size()) * *at; };
  const auto client = [&](auto at) { return at - perron.begin(); };
  const std::string extremes =
      fmt::format("client {}: {:.4g}, client {}: {:.4g}", client(most), factor(most), client(least), factor(least));
  if (analysis.receiver_sums.is_one()) {
    return fmt::format("Plain mixing goes to a weighted mean, not to the mean; most and least weight × n: {}.",
                       extremes);
  }
  if (analysis.sender_sums.is_one()) {
    return fmt::format(
        "Plain mixing goes to multiples of the mean, without consensus; most and least: {}. Push-sum divides by them.",
        extremes);
  }
  return fmt::format("Plain mixing grows or fades without end; most and least in proportion: {}.", extremes);
}

struct GraphVerdict {
  std::string disagreement;  ///< why not with any mixing; empty if there is no such reason
  std::string push_sum;      ///< why not; empty if its sums are one
  std::string plain;
  [[nodiscard]] bool usable() const { return disagreement.empty() && (push_sum.empty() || plain.empty()); }
};

/// GraphVerdict on a graph. For an endless graph, disconnected rounds in the sample prove nothing about all rounds.
GraphVerdict judge(const Graph& graph, const GraphSample& sample, const TopologyAnalysis& analysis) {
  const bool some_day = sample.rounds() && graph.ever_connects();
  return {some_day ? "" : why_no_agreement(analysis), complaint(graph, &Graph::require_sender_sums),
          complaint(graph, &Graph::require_receiver_sums)};
}

std::string text_of(const GraphVerdict& verdict, const TopologyAnalysis& analysis) {
  const auto line = [](std::string_view name, const std::string& answer) {
    return fmt::format("  {:<20}{}\n", name, answer);
  };
  const auto answer = [&](std::string_view otherwise, const std::string& why_not) -> std::string {
    if (!verdict.disagreement.empty()) return "no: " + verdict.disagreement;
    return why_not.empty() ? "yes" : fmt::format("{}: {}", otherwise, why_not);
  };
  const std::string_view otherwise = verdict.push_sum.empty() ? "only with a warning" : "no";
  return "usable with\n" + line("push-sum", answer("no", verdict.push_sum)) +
         line("plain", answer(otherwise, verdict.plain)) + bias_sentence(analysis) + '\n';
}

/// On stderr, for scripts that read stdout.
void report_refusal(const GraphVerdict& verdict, const std::string& file) {
  const std::string sums = verdict.push_sum + "; nor does plain mixing fit: " + verdict.plain;
  std::cerr << file << ": " << (verdict.disagreement.empty() ? sums : verdict.disagreement) << '\n';
}

struct TopologyCheck {
  std::string file;
  bool json = false;
};

Options check_options(TopologyCheck& check) {
  Options options("topology check");
  options.group("Options");
  options.add(option("file", "FILE", "topology file", {.example = "ring.topo", .positional = true}), check.file);
  options.add(declared("json", {.help = "print one JSON object: clients, phases, sampled_rounds, edges, sender_sums, "
                                        "receiver_sums, strongly_connected, joint_window, perron, bias, contraction, "
                                        "spectral_gap, contraction_tolerance, rounds_to_1e-3, digest"}),
              check.json);
  options.add(declared("help"));
  return options;
}

Manual check_manual() {
  return {.usage = "FILE [--json]",
          .text =
              "Validates a topology file and says what it is good for. An edge is `from to weight`: the share of the "
              "sender that the receiver gets. Push-sum mixing needs sender sums of one, plain mixing receiver sums. "
              "Exit code: 0 usable; 1 clients never agree, or the sums fit neither mixing; 2 not a topology file.",
          .examples = {"starling topology check ring.topo"}};
}

int run_check(const Call& call) {
  const auto asked = parsed<TopologyCheck, check_options>(call.words);
  check(!asked.file.empty(), "no topology file is named. Name one: starling topology check FILE.");
  const auto graph = read_graph(asked.file);
  const GraphSample sample(*graph);
  const TopologyAnalysis analysis = analyse(sample);
  const GraphVerdict verdict = judge(*graph, sample, analysis);
  if (asked.json) {
    print(to_json(*graph, sample, analysis).dump() + '\n');
  } else {
    print(asked.file + '\n' + table_of(*graph, sample, analysis) + text_of(verdict, analysis));
  }
  if (verdict.usable()) return static_cast<int>(ExitCode::done);
  report_refusal(verdict, asked.file);
  return static_cast<int>(ExitCode::refuted);
}

}  // namespace

Command topology_check_command() {
  return command_of<TopologyCheck, check_options>(
      "check", "validate a topology file: sums, connectivity, bias, speed of mixing", check_manual, run_check);
}

}  // namespace starling
