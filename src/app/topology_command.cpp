// `starling topology check|make|draw`.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <boost/program_options.hpp>
#include <nlohmann/json.hpp>

#include "starling/app/commands.hpp"
#include "starling/core/check.hpp"
#include "starling/graph/analysis.hpp"
#include "starling/graph/endless.hpp"
#include "starling/graph/topology.hpp"

namespace starling {

namespace {

namespace options = boost::program_options;
using Words = std::vector<std::string>;

// Words in, text out.

/// The options of one subcommand, and what its --help says above them.
struct Usage {
  std::string synopsis;
  std::string explanation;
  options::options_description visible;
  std::string positional;  ///< name of the option that words without a dash go to
};

options::variables_map parse_words(const Words& words, const Usage& usage) {
  options::options_description all = usage.visible;
  all.add_options()(usage.positional.c_str(), options::value<Words>()->default_value({}, ""));
  options::positional_options_description positions;
  positions.add(usage.positional.c_str(), -1);
  namespace style = options::command_line_style;
  constexpr int unix_without_guessing = static_cast<int>(style::unix_style) & ~static_cast<int>(style::allow_guessing);
  options::variables_map values;
  try {
    options::command_line_parser parser(words);
    parser.options(all).positional(positions).style(unix_without_guessing);
    options::store(parser.run(), values);
    options::notify(values);
  } catch (const options::error& error) {
    throw UsageError(fmt::format("{} (usage: {}) see its --help", error.what(), usage.synopsis));
  }
  return values;
}

void print(std::string_view text) {
  const bool done = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  check<FailureError>(done, "cannot write to standard output ({})", std::generic_category().message(errno));
}

bool helped(const options::variables_map& values, const Usage& usage) {
  if (values.count("help") == 0) return false;
  std::ostringstream text;
  text << "usage: " << usage.synopsis << "\n\n" << usage.explanation << '\n' << usage.visible;
  print(text.str());
  return true;
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  check<FailureError>(static_cast<bool>(file), "cannot write '{}' ({}) check the folder and its permissions", path,
                      std::generic_category().message(errno));
}

std::string the_one_file(const options::variables_map& values, const Usage& usage) {
  const auto& files = values["file"].as<Words>();
  check(files.size() == 1, "{} topology files were named (one is needed; usage: {}) name one", files.size(),
        usage.synopsis);
  return files[0];
}

// check

nlohmann::json to_json(const Graph& graph, const GraphSample& sample, const TopologyAnalysis& analysis) {
  const auto known = [](double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(); };
  const auto optional = [](const std::optional<Round>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json();
  };
  const auto range = [](const Range& sums) { return nlohmann::json{{"min", sums.min}, {"max", sums.max}}; };
  return {{"clients", graph.clients()},
          {"phases", sample.topology().phases()},
          {"sampled_rounds", optional(sample.rounds())},
          {"edges", analysis.edges},
          {"sender_sums", range(analysis.sender_sums)},
          {"receiver_sums", range(analysis.receiver_sums)},
          {"strongly_connected", analysis.strongly_connected},
          {"joint_window", optional(analysis.joint_window)},
          {"perron", analysis.perron},
          {"bias", known(analysis.bias)},
          {"contraction", known(analysis.contraction)},
          {"rounds_to_1e-3", optional(analysis.rounds_to_1e_3)},
          {"digest", graph.digest()}};
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string shown(const std::optional<std::int64_t>& value, std::string_view otherwise) {
  return value ? fmt::format("{}", *value) : std::string(otherwise);
}

std::string shown(const Range& sums) {
  return sums.is_one() ? "1" : fmt::format("{:.6g} to {:.6g}", sums.min, sums.max);
}

/// "yes", "no" or "in 1 of 2 phases".
std::string shown(const std::vector<bool>& connected) {
  const auto count = std::count(connected.begin(), connected.end(), true);
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

std::string rate(double contraction) {
  if (std::isnan(contraction)) return "not resolved (too many clients for mixing this slow)";
  if (contraction > 0.9995 && contraction < 1)
    return fmt::format("1 - {:.3g} (of disagreement, per round)", 1 - contraction);
  return fmt::format("{:.4f} (of disagreement, per round)", contraction);
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
      {"contraction", rate(analysis.contraction)},
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

/// Why clients would never agree, whatever the weights sum to; empty if they would.
std::string disagreement(const TopologyAnalysis& analysis) {
  if (!analysis.joint_window) {
    return "the union of all phases is not strongly connected (clients would never agree) add edges";
  }
  if (!analysis.rounds_to_1e_3 && !std::isnan(analysis.contraction)) {
    return "disagreement never falls (values change places for ever) give clients self loops";
  }
  return "";
}

/// Where plain mixing would go, naming the clients that count most and least.
std::string bias_sentence(const TopologyAnalysis& analysis) {
  const auto& perron = analysis.perron;
  if (perron.empty() || !disagreement(analysis).empty()) return "Plain mixing has no single limit.";
  if (analysis.bias <= sum_tolerance) return "Plain mixing goes to the mean: every client counts the same.";
  const auto [least, most] = std::minmax_element(perron.begin(), perron.end());
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

struct Verdict {
  std::string disagreement;  ///< why not with any mixing; empty if there is no such reason
  std::string push_sum;      ///< why not; empty if its sums are one
  std::string plain;
  [[nodiscard]] bool usable() const { return disagreement.empty() && (push_sum.empty() || plain.empty()); }
};

/// That some rounds of an endless graph do not connect says nothing of all.
Verdict judge(const Graph& graph, const GraphSample& sample, const TopologyAnalysis& analysis) {
  const bool some_day = sample.rounds() && graph.ever_connects();
  return {some_day ? "" : disagreement(analysis), complaint(graph, &Graph::require_sender_sums),
          complaint(graph, &Graph::require_receiver_sums)};
}

std::string text_of(const Verdict& verdict, const TopologyAnalysis& analysis) {
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
void report_refusal(const Verdict& verdict, const std::string& file) {
  const std::string sums = verdict.push_sum + "; nor does plain mixing fit: " + verdict.plain;
  std::cerr << file << ": " << (verdict.disagreement.empty() ? sums : verdict.disagreement) << '\n';
}

int run_check(const Words& words) {
  Usage usage{"starling topology check FILE [--json]",
              "Validates a topology file and says what it is good for. An edge is `from to weight`: the share of the\n"
              "sender that the receiver gets. Push-sum mixing needs sender sums of one, plain mixing receiver sums.\n"
              "Exit code: 0 usable; 1 clients never agree, or the sums fit neither mixing; 2 not a topology file.\n",
              options::options_description("Options"), "file"};
  usage.visible.add_options()(
      "json",
      "print one JSON object: clients, phases, sampled_rounds, edges, sender_sums, receiver_sums, "
      "strongly_connected, joint_window, perron, bias, contraction, rounds_to_1e-3, "
      "digest")("help", "print this text");
  const auto values = parse_words(words, usage);
  if (helped(values, usage)) return 0;
  const std::string file = the_one_file(values, usage);
  const auto graph = read_graph(file);
  const GraphSample sample(*graph);
  const TopologyAnalysis analysis = analyse(sample);
  const Verdict verdict = judge(*graph, sample, analysis);
  if (values.count("json") > 0) {
    print(to_json(*graph, sample, analysis).dump() + '\n');
  } else {
    print(file + '\n' + table_of(*graph, sample, analysis) + text_of(verdict, analysis));
  }
  if (verdict.usable()) return static_cast<int>(ExitCode::done);
  report_refusal(verdict, file);
  return static_cast<int>(ExitCode::refuted);
}

// make

std::string endless_help() {
  return "With rounds=endless, drawn anew in every round, each client working out its own row alone (never repeats)\n" +
         endless_table().help();
}

/// FAMILY and key=value words, or FAMILY:key=value,…, as one spec.
std::string join_spec(const Words& words) {
  std::string spec = words.front();
  for (std::size_t k = 1; k < words.size(); ++k) {
    check(words[k].find('=') != std::string::npos,
          "'{}' after the family '{}' (parameters are written key=value) correct it", words[k], words.front());
    spec += (spec.find(':') == std::string::npos ? ':' : ',') + words[k];
  }
  return spec;
}

int run_make(const Words& words) {
  Usage usage{
      "starling topology make FAMILY --clients N [key=value …]",
      fmt::format("Writes a topology file of one of these families (FAMILY:key=value,… is understood too):\n{}\n"
                  "{}"
                  "The same in one line of a file: generate FAMILY clients=N key=value …\n",
                  topology_table().help(), endless_help()),
      options::options_description("Options"), "family"};
  usage.visible.add_options()("clients", options::value<std::string>(), "number of clients, from 1 (required)")(
      "weights", options::value<std::string>()->default_value("sender"),
      "sender (equal shares over out-neighbours and itself: fits push-sum), receiver (the same over in-neighbours: "
      "fits "
      "plain), or metropolis (symmetric graphs: fits both)")(
      "output", options::value<std::string>(), "file to write (standard output)")("help", "print this text");
  const auto values = parse_words(words, usage);
  if (helped(values, usage)) return 0;
  const auto& family = values["family"].as<Words>();
  check(!family.empty(), "no family was named (known: {}) usage: {}", topology_table().names(), usage.synopsis);
  check(values.count("clients") > 0, "--clients is missing (how many clients to join) usage: {}", usage.synopsis);
  const long long clients = parse_integer(values["clients"].as<std::string>(), "--clients");
  check(clients >= 1 && clients <= max_clients, "--clients {} (a topology has 1 to {}) correct it", clients,
        max_clients);
  const std::string rule = values["weights"].as<std::string>();
  const std::string spec = join_spec(family);
  const auto graph = make_graph(spec, static_cast<Client>(clients), parse_weight_rule(rule));
  const std::string text =
      fmt::format("# starling topology make {} --clients {} --weights {}\n{}", spec, clients, rule, graph->text());
  if (values.count("output") > 0) {
    write_file(values["output"].as<std::string>(), text);
  } else {
    print(text);
  }
  return 0;
}

// draw

/// A temporary file that is gone at the end of the scope.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text)
      : path_((std::filesystem::temp_directory_path() / "starling-XXXXXX").string()) {
    const int descriptor = ::mkstemp(path_.data());
    check<FailureError>(descriptor >= 0, "cannot make a temporary file '{}' ({}) set TMPDIR to a writable folder",
                        path_, std::generic_category().message(errno));
    ::close(descriptor);
    write_file(path_, text);
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Runs a program found in PATH and returns its exit status, or −1 if it cannot be run.
int run_program_of_path(Words arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  if (::posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ) != 0) return -1;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

void render(const std::string& dot, const std::string& output) {
  const std::string extension = std::filesystem::path(output).extension().string();
  if (extension == ".dot" || extension == ".gv") return write_file(output, dot);
  check(extension == ".svg" || extension == ".png" || extension == ".pdf",
        "cannot draw to '{}' (the name must end in .svg, .png, .pdf, .dot or .gv) rename it", output);
  const TemporaryFile source(dot);
  const int status = run_program_of_path({"dot", "-T" + extension.substr(1), "-o", output, source.path()});
  check<FailureError>(status != -1 && status != 127,
                      "cannot run `dot` (Graphviz is not installed, or not in PATH) install it, or draw to a .dot file "
                      "and render that elsewhere");
  check<FailureError>(status == 0, "`dot` could not draw '{}' (it ended with status {}) check the folder", output,
                      status);
}

/// Of an endless graph, as many as can be taken in.
constexpr Round rounds_drawn = 6;

int run_draw(const Words& words) {
  Usage usage{"starling topology draw FILE [--output PICTURE]",
              "Prints Graphviz DOT: clients, edges with their weights, self loops, and a box per phase (of "
              "graphs\nthat never repeat, the first six rounds).\n",
              options::options_description("Options"), "file"};
  usage.visible.add_options()(
      "output", options::value<std::string>(),
      "picture to write: .svg, .png or .pdf (by Graphviz's `dot`), .dot or .gv; DOT on standard "
      "output without it")("help", "print this text");
  const auto values = parse_words(words, usage);
  if (helped(values, usage)) return 0;
  const auto graph = read_graph(the_one_file(values, usage));
  const GraphSample sample(*graph, std::min(graph->telling_rounds(), rounds_drawn));
  const std::string dot = to_dot(sample);
  if (values.count("output") > 0) {
    render(dot, values["output"].as<std::string>());
  } else {
    print(dot);
  }
  return 0;
}

std::string overview() {
  return fmt::format(
      "usage: starling topology check|make|draw …\n\n"
      "A topology says which client sends to which in which round, and what share of its model.\n\n"
      "Commands (each has --help)\n"
      "  check FILE [--json]              validate a topology file: sums, connectivity, bias, speed of mixing\n"
      "  make FAMILY --clients N …        write a topology file of a family (below)\n"
      "  draw FILE [--output PICTURE]     Graphviz DOT, or a picture\n\n"
      "Families\n{}\n{}\n"
      "Files (.topo)\n"
      "  clients 3                 # number of clients, numbered from 0\n"
      "  weights sender            # sender (default), receiver, metropolis, or explicit: a weight on each edge\n"
      "  edge 0 1                  # from to [weight, such as 0.25 or 1/3]; self loops under explicit only\n"
      "  phase 4                   # what follows lasts 4 rounds; phases repeat; earlier edges are in each of them\n"
      "  generate FAMILY clients=N key=value …    # in place of clients, edges and phases\n"
      "Files of others, told by their endings; from and to are as above, clients from 0 unless said otherwise\n"
      "  .mtx                      # MatrixMarket, coordinate: entry (i, j) is the weight from j to i, counted from "
      "1;\n"
      "                            # real or integer: explicit weights; pattern: sender weights, self loops implied\n"
      "  .edges .edgelist .txt     # `from to weight` (explicit weights) or `from to` (sender weights, self loops\n"
      "                            # implied), as NetworkX's write_weighted_edgelist writes a DiGraph; of an "
      "undirected\n"
      "                            # graph write G.to_directed(), or each edge would go one way only\n\n"
      "Example\n"
      "  starling topology make exponential --clients 16 --output e16.topo\n"
      "  starling topology check e16.topo\n"
      "  starling topology draw e16.topo --output e16.svg\n",
      topology_table().help(), endless_help());
}

}  // namespace

int run_topology(const std::vector<std::string>& words) {
  check(!words.empty(), "`topology` lacks a command (check, make or draw) see `starling topology --help`");
  const Words rest(words.begin() + 1, words.end());
  if (words[0] == "check") return run_check(rest);
  if (words[0] == "make") return run_make(rest);
  if (words[0] == "draw") return run_draw(rest);
  check(words[0] == "--help" || words[0] == "-h" || words[0] == "help",
        "unknown topology command '{}' (known: check, make, draw) see `starling topology --help`", words[0]);
  print(overview());
  return 0;
}

}  // namespace starling
