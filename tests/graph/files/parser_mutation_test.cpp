// Any bytes give a topology, which can be analysed, or a UsageError: valid files, damaged in 30,000 ways.
#include <algorithm>

#include "graph/analysis/analysis.hpp"
#include "support/mutations.hpp"

namespace starling::parser_mutation_test {

using namespace testing_support;

const Texts valid = {
    "clients 3\nweights explicit\nedge 0 0 0.5\nedge 0 1 1/2\nedge 1 2 1\nedge 2 0 1\n",
    "# four\nclients 4\nweights sender\nphase 1\nedge 0 1\nedge 2 3\nphase 2 # two\nedge 1 2\nedge 3 0\n",
    "clients 4\nweights metropolis\nedge 0 1\nedge 1 0\nedge 2 3\nedge 3 2\n",
    "weights receiver\ngenerate erdos-renyi clients=9 p=0.5 seed=3\n",
    "generate one-peer-exponential clients=8\n",
};
/// Of graphs that are drawn anew in every round.
const Texts endless = {
    "generate random-matching clients=8 rounds=endless seed=3\n",
    "weights sender\ngenerate b-connected clients=7 window=3 extra=0.5 rounds=endless\n",
    "generate erdos-renyi clients=9 p=0.4 directed=1 rounds=endless\n",
    "weights receiver\ngenerate random-regular clients=9 degree=2 rounds=endless\n",
    "generate one-peer-exponential clients=6 rounds=endless\n",
};
const Texts fragments = {"edge ", "phase ", "clients", "generate ", "weights ", "-",
                         "1e300", "nan",    "/0",      "\n",        "\r\n",     "#",
                         "=",     ":",      ",",       "0",         "inf",      std::string(1, '\0'),
                         "\xff",  "99",     "1e-320",  "ring",      "p=",       " "};

void expect_analysable(const Topology& topology) {
  const TopologyAnalysis analysis = analyse(topology);
  EXPECT_EQ(analysis.strongly_connected.size(), topology.phases());
  EXPECT_FALSE(analysis.contraction > 1 || analysis.contraction < 0) << topology.text();
  for (const double share : analysis.perron) EXPECT_TRUE(share >= 0 && share <= 1) << topology.text();
}

bool read_or_refuse(const std::string& text) {
  try {
    const Topology topology = Topology::parse(text, "f.topo");
    if (topology.clients() > 100) return true;
    EXPECT_EQ(Topology::parse(topology.text(), "again").digest(), topology.digest()) << text;
    if (topology.clients() <= 20) expect_analysable(topology);
    return true;
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()).rfind("f.topo", 0), 0u) << error.what();
    return false;
  }
}

TEST(ParserMutation, GivesATopologyOrAUsageError) {
  const Outcomes outcomes = try_damaged(valid, fragments, 30'000, 2, read_or_refuse, small_numbers);
  EXPECT_GT(outcomes.read, 1'000);
  EXPECT_GT(outcomes.refused, 5'000);
}

bool endless_or_refuse(const std::string& text) {
  try {
    const auto graph = parse_graph(text, "f.topo");
    EXPECT_EQ(parse_graph(graph->text(), "again")->digest(), graph->digest()) << text;
    const Client last = graph->clients() - 1;
    for (const Round t : {Round{0}, Round{5}, max_phase_rounds}) {
      for (const Arc& arc : graph->links(last, t).out) {
        const std::vector<Arc> in = graph->links(arc.peer, t).in;
        EXPECT_NE(std::find(in.begin(), in.end(), Arc{last, arc.weight}), in.end()) << text;
      }
    }
    return true;
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()).rfind("f.topo", 0), 0u) << error.what();
    return false;
  }
}

TEST(ParserMutation, GivesAnEndlessGraphOrAUsageError) {
  const Texts keys = {
      "rounds=endless", "seed=", "window=", "extra=", "p=", "degree=", " ", "=", ",", "0", "1", "-1", "nan", "9"};
  const Outcomes outcomes = try_damaged(endless, keys, 20'000, 1, endless_or_refuse, small_numbers);
  EXPECT_GT(outcomes.read, 500);
  EXPECT_GT(outcomes.refused, 2'000);
}

TEST(ParserMutation, SurvivesNoise) {
  for (std::uint64_t trial = 0; trial < 2'000; ++trial) {
    AddressedRandom random(2, Purpose::experiment, trial, 0);
    std::string text(random.below(300), ' ');
    for (char& c : text) c = static_cast<char>(random.below(256));
    EXPECT_THROW(static_cast<void>(Topology::parse(text, "f.topo")), UsageError);
  }
}

}  // namespace starling::parser_mutation_test
