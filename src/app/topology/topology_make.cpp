#include <optional>

#include "app/commands.hpp"
#include "console/print.hpp"
#include "core/check.hpp"
#include "files/text_files.hpp"
#include "graph/families/endless.hpp"
#include "graph/topology.hpp"
#include "run/settings/catalogue.hpp"

namespace starling {

namespace {

/// FAMILY and key=value words, or FAMILY:key=value,…, as one spec.
std::string join_spec(const std::vector<std::string>& words) {
  std::string spec = words.front();
  for (std::size_t k = 1; k < words.size(); ++k) {
    check(words[k].find('=') != std::string::npos,
          "'{}' after the family '{}': parameters are written key=value. Correct it.", words[k], words.front());
    spec += (spec.find(':') == std::string::npos ? ':' : ',') + words[k];
  }
  return spec;
}

OptionValues family_values() {
  OptionValues values = values_of("Families", topology_table());
  values.text += "\n" + endless_families_help();
  return values;
}

struct NewTopology {
  std::vector<std::string> family;  ///< and its parameters
  std::optional<Client> clients;
  std::string weights;
  std::string output;
};

Options make_topology_options(NewTopology& topology) {
  Options options("topology make");
  options.group("Options");
  options.add(option("family", "FAMILY", "a family, with its parameters as key=value",
                     {.values = family_values, .example = "exponential", .positional = true, .many = true}),
              topology.family);
  options.add(
      declared("clients", "number of clients, from 1 (required)", {.range = {.most = max_clients}, .example = "16"}),
      topology.clients);
  options.add(option("weights", "RULE",
                     "sender (equal shares over out-neighbours and itself: fits push-sum), receiver (the same over "
                     "in-neighbours: fits plain), or metropolis (symmetric graphs: fits both)",
                     {.initial = "sender"}),
              topology.weights);
  options.add(declared("output", "file to write; default: standard output", {.argument = "FILE"}), topology.output);
  options.add(declared("help"));
  return options;
}

Manual make_topology_manual() {
  return {.usage = "FAMILY --clients N [key=value …]",
          .text =
              "Writes a topology file of a family (FAMILY:key=value,… is understood too). The same in one line of a "
              "file: generate FAMILY clients=N key=value …",
          .examples = {"starling topology make exponential --clients 16 --output e16.topo",
                       "starling topology make random-regular --clients 20 degree=4 seed=2 --output r20.topo"}};
}

int run_make_topology(const Call& call) {
  const auto topology = parsed<NewTopology, make_topology_options>(call.words);
  check(!topology.family.empty(), "no family is named: known are {}. See starling topology make --help.",
        topology_table().names());
  check(topology.clients.has_value(), "--clients is missing: a topology has a number of clients. Add --clients N.");
  const std::string spec = join_spec(topology.family);
  const auto graph = make_graph(spec, *topology.clients, parse_weight_rule(topology.weights));
  constexpr const char* beginning = "# starling topology make";
  const std::string text = fmt::format("{} {} --clients {} --weights {}\n{}", beginning, spec, *topology.clients,
                                       topology.weights, graph->text());
  if (topology.output.empty()) {
    print(text);
  } else {
    require_replaceable(topology.output, beginning);
    write_text(topology.output, text);
  }
  return 0;
}

}  // namespace

Command topology_make_command() {
  return command_of<NewTopology, make_topology_options>("make", "write a topology file of a family",
                                                        make_topology_manual, run_make_topology);
}

}  // namespace starling
