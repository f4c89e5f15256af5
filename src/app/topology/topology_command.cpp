// `starling topology check|make|draw`: what they share, and make.
#include "app/commands.hpp"
#include "topology_commands.hpp"
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <system_error>

#include "starling/core/check.hpp"
#include "starling/graph/families/endless.hpp"
#include "starling/graph/topology.hpp"

namespace starling {

namespace topology_command {

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

namespace {

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

}  // namespace topology_command

int run_topology(const std::vector<std::string>& words) {
  using namespace topology_command;
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
