// Any bytes give a topology, which can be analysed, or a UsageError: valid files, damaged in 20,000 ways.
#include <gtest/gtest.h>

#include "starling/core/random.hpp"
#include "starling/graph/analysis.hpp"

namespace starling {
namespace {

const std::vector<std::string> valid = {
    "clients 3\nweights explicit\nedge 0 0 0.5\nedge 0 1 1/2\nedge 1 2 1\nedge 2 0 1\n",
    "# four\nclients 4\nweights sender\nphase 1\nedge 0 1\nedge 2 3\nphase 2 # two\nedge 1 2\nedge 3 0\n",
    "clients 4\nweights metropolis\nedge 0 1\nedge 1 0\nedge 2 3\nedge 3 2\n",
    "weights receiver\ngenerate erdos-renyi clients=9 p=0.5 seed=3\n",
    "generate one-peer-exponential clients=8\n",
};
const std::vector<std::string> fragments = {
    "edge ", "phase ", "clients", "generate ", "weights ", "-",  "1e300", "nan", "/0",     "\n",   "\r\n", "#",
    "=",     ":",      ",",       "0",         "inf",      "\0", "\xff",  "99",  "1e-320", "ring", "p=",   " "};

const std::string& pick(const std::vector<std::string>& choices, AddressedRandom& random) {
  return choices[random.below(choices.size())];
}

void mutate(std::string& text, AddressedRandom& random) {
  const std::size_t at = random.below(text.size() + 1);
  switch (random.below(5)) {
    case 0:
      text.insert(at, pick(fragments, random));
      break;
    case 1:
      text.erase(at, random.below(6));
      break;
    case 2:
      text.insert(at, 1, static_cast<char>(random.below(256)));
      break;
    case 3:
      text.insert(at, text.substr(random.below(text.size() + 1), random.below(20)));
      break;
    default:
      if (at < text.size()) text[at] = static_cast<char>(random.below(256));
  }
}

/// Digits in a row make sizes that are allowed and slow; how large ones are refused is tested elsewhere.
bool small_numbers(const std::string& text) {
  std::size_t run = 0;
  for (const char c : text) {
    run = c >= '0' && c <= '9' ? run + 1 : 0;
    if (run > 4) return false;
  }
  return true;
}

void expect_analysable(const Topology& topology) {
  const TopologyAnalysis analysis = analyse(topology);
  EXPECT_EQ(analysis.strongly_connected.size(), topology.phases());
  EXPECT_FALSE(analysis.contraction > 1 || analysis.contraction < 0) << topology.text();
  for (const double share : analysis.perron) EXPECT_TRUE(share >= 0 && share <= 1) << topology.text();
}

TEST(ParserMutation, GivesATopologyOrAUsageError) {
  int accepted = 0;
  int refused = 0;
  for (std::uint64_t trial = 0; trial < 20'000; ++trial) {
    AddressedRandom random(1, Purpose::experiment, trial, 0);
    std::string text = pick(valid, random);
    for (std::uint64_t changes = 1 + random.below(2); changes > 0; --changes) mutate(text, random);
    if (!small_numbers(text)) continue;
    try {
      const Topology topology = Topology::parse(text, "f.topo");
      ++accepted;
      if (topology.clients() > 100) continue;
      EXPECT_EQ(Topology::parse(topology.text(), "again").digest(), topology.digest()) << text;
      if (topology.clients() <= 20) expect_analysable(topology);
    } catch (const UsageError& error) {
      ++refused;
      EXPECT_EQ(std::string(error.what()).rfind("f.topo", 0), 0u) << error.what();
    }
  }
  EXPECT_GT(accepted, 1'000);
  EXPECT_GT(refused, 5'000);
}

TEST(ParserMutation, SurvivesNoise) {
  for (std::uint64_t trial = 0; trial < 2'000; ++trial) {
    AddressedRandom random(2, Purpose::experiment, trial, 0);
    std::string text(random.below(300), ' ');
    for (char& c : text) c = static_cast<char>(random.below(256));
    EXPECT_THROW(static_cast<void>(Topology::parse(text, "f.topo")), UsageError);
  }
}

}  // namespace
}  // namespace starling
