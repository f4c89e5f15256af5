#include "app/commands.hpp"
#include "core/check.hpp"
#include "graph/families/endless.hpp"
#include "graph/topology.hpp"

namespace starling {

namespace {

std::vector<Command> subcommands() {
  return {topology_check_command(), topology_make_command(), topology_draw_command()};
}

Manual topology_manual() {
  return {
      .usage = "check|make|draw …",
      .text = "A topology says which client sends to which in which round, and what share of its model.",
      .examples = {"starling topology make exponential --clients 16 --output e16.topo",
                   "starling topology check e16.topo", "starling topology draw e16.topo --output e16.dot"},
      .more = fmt::format(
          "\nFamilies\n{}\n{}\n"
          "Files (.topo)\n"
          "  clients 3                 # number of clients, numbered from 0\n"
          "  weights sender            # sender (default), receiver, metropolis, or explicit: a weight on each edge\n"
          "  edge 0 1                  # from to [weight, such as 0.25 or 1/3]; self loops under explicit only\n"
          "  phase 4                   # what follows lasts 4 rounds; phases repeat; earlier edges are in each of "
          "them\n"
          "  generate FAMILY clients=N key=value …    # in place of clients, edges and phases\n"
          "Files of others, told by their endings; from and to are as above, clients from 0 unless said otherwise\n"
          "  .mtx                      # MatrixMarket, coordinate: entry (i, j) is the weight from j to i, counted "
          "from 1;\n"
          "                            # real or integer: explicit weights; pattern: sender weights, self loops "
          "implied\n"
          "  .edges .edgelist .txt     # `from to weight` (explicit weights) or `from to` (sender weights, self loops\n"
          "                            # implied), as NetworkX's write_weighted_edgelist writes a DiGraph; of an "
          "undirected\n"
          "                            # graph write G.to_directed(), or each edge would go one way only\n",
          topology_table().help(), endless_families_help())};
}

}  // namespace

Command topology_command() {
  return {.name = "topology",
          .purpose = "check, make or draw topology files",
          .manual = topology_manual,
          .subcommands = subcommands()};
}

}  // namespace starling
