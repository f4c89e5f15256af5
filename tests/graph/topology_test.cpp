#include "graph/topology.hpp"

#include <limits>
#include <ostream>

#include "support/testing.hpp"

namespace starling::topology_test {

using namespace testing_support;

std::string parse_error(const std::string& text) {
  return message_of<UsageError>([&] { return Topology::parse(text, "f.topo"); });
}

TEST(TopologyFile, ReadsEdgesCommentsAndPhases) {
  const Topology topology = Topology::parse(
      "# a comment\n\nclients 3   # three\nweights explicit\r\n\tedge 0 0 0.2\nedge 0 1 1/4\nphase 4\nphase 2\nedge 2 "
      "0 1e-1",
      "f.topo");
  EXPECT_EQ(topology.clients(), 3);
  EXPECT_EQ(topology.rule(), WeightRule::explicit_weights);
  ASSERT_EQ(topology.phases(), 2u);
  EXPECT_EQ(topology.period(), 6);
  EXPECT_EQ(topology.phase_links(0, 0), (Links{0.2, {{1, 0.25}}, {}}));
  EXPECT_EQ(topology.phase_links(1, 0), (Links{0.2, {{1, 0.25}}, {{2, 0.1}}}));
  EXPECT_EQ(topology.phase_links(1, 1), (Links{0, {}, {{0, 0.25}}}));
}

TEST(TopologyFile, SenderSharesAreTheDefault) {
  const Topology topology = Topology::parse("clients 3\nedge 0 1\nedge 0 2\n", "f.topo");
  EXPECT_EQ(topology.rule(), WeightRule::sender);
  EXPECT_EQ(topology.period(), 1);
  EXPECT_EQ(topology.links(0, 0), (Links{1.0 / 3, {{1, 1.0 / 3}, {2, 1.0 / 3}}, {}}));
  EXPECT_EQ(topology.links(1, 7), (Links{1, {}, {{0, 1.0 / 3}}}));
}

TEST(TopologyFile, ReceiverSharesAreOverInNeighbours) {
  const Topology topology = Topology::parse("clients 3\nweights receiver\nedge 0 2\nedge 1 2\n", "f.topo");
  EXPECT_EQ(topology.links(0, 0), (Links{1, {{2, 1.0 / 3}}, {}}));
  EXPECT_EQ(topology.links(2, 0), (Links{1.0 / 3, {}, {{0, 1.0 / 3}, {1, 1.0 / 3}}}));
}

TEST(TopologyFile, AnEdgeOfWeightZeroIsNoEdge) {
  const Topology topology =
      Topology::parse("clients 2\nweights explicit\nedge 0 0 1\nedge 0 1 0\nedge 1 1 1", "f.topo");
  EXPECT_TRUE(topology.links(0, 0).out.empty());
  EXPECT_TRUE(topology.links(1, 0).in.empty());
}

TEST(TopologyFile, GeneratesInOneLine) {
  const Topology topology = Topology::parse("generate one-peer-exponential clients=8\n", "f.topo");
  const auto made = topology_table().make("one-peer-exponential", 8, WeightRule::sender);
  EXPECT_EQ(topology.digest(), made->digest());
  const Topology random = Topology::parse("weights metropolis\ngenerate erdos-renyi clients=9 p=0.5 seed=3", "f.topo");
  EXPECT_EQ(random.digest(), topology_table().make("erdos-renyi:0.5,3", 9, WeightRule::metropolis)->digest());
}

TEST(TopologyFile, TextOfOtherEncodingsIsRefusedByName) {
  EXPECT_THAT(parse_error("clients 1 # caf\xE9\n"), HasSubstr("f.topo:1: byte 16 is not UTF-8"));
  EXPECT_THAT(parse_error("clients 2\redge 0 1\r"), HasSubstr("f.topo:1: byte 10 is a carriage return"));
  EXPECT_THAT(parse_error(std::string("\xFF\xFE"
                                      "c\0",
                                      4)),
              HasSubstr("f.topo:1: byte 1 is part of UTF-16"));
}

TEST(TopologyFile, ReadsFilesAndSaysWhichItCannotRead) {
  const TemporaryFolder folder;
  EXPECT_EQ(Topology::read(folder.write("a.topo", "clients 1\n")).clients(), 1);
  const std::string missing = folder / "missing.topo";
  EXPECT_ERROR(UsageError, missing, Topology::read(missing));
  EXPECT_ERROR(UsageError, "cannot read", Topology::read(folder / "."));
}

struct Fault {
  std::string text;
  std::string message;
  friend void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.message; }
};

class TopologyFault : public testing::TestWithParam<Fault> {};

TEST_P(TopologyFault, IsAnErrorThatSaysWhere) {
  EXPECT_THAT(parse_error(GetParam().text), StartsWith(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, TopologyFault,
    testing::Values(
        Fault{"", "f.topo: no `clients N` line"}, Fault{"# nothing\n\n", "f.topo: no `clients N` line"},
        Fault{"edge 0 1", "f.topo: no `clients N` line"}, Fault{"clients\n", "f.topo:1: `clients` with 0 words"},
        Fault{"clients 3 4\n", "f.topo:1: `clients` with 2 words"}, Fault{"clients 0", "f.topo:1: clients '0'"},
        Fault{"clients -3", "f.topo:1: clients '-3'"}, Fault{"clients 1e12", "f.topo:1: clients '1e12'"},
        Fault{"clients 2.5", "f.topo:1: clients '2.5'"}, Fault{"clients nan", "f.topo:1: clients 'nan'"},
        Fault{"clients 99999999999999999999999", "f.topo:1: clients '999"},
        Fault{"clients 3\nclients 3", "f.topo:2: a second `clients` line"},
        Fault{"clients 3\nweights fair", "f.topo:2: unknown weight rule 'fair'"},
        Fault{"weights sender\nweights sender\nclients 2", "f.topo:2: a second `weights` line"},
        Fault{"clients 2\nphase 1\nweights sender", "f.topo:3: `weights` after `phase`"},
        Fault{"clients 3\nedge 0 3", "f.topo:2: receiver '3': must be a whole number from 0 to 2."},
        Fault{"edge 0 3\nclients 3", "f.topo:1: edge 0 3 names client 3: clients are numbered 0 to 2."},
        Fault{"clients 3\nedge -1 2", "f.topo:2: sender '-1'"}, Fault{"clients 3\nedge a 2", "f.topo:2: sender 'a'"},
        Fault{"clients 3\nedge 0", "f.topo:2: `edge` with 1 words"},
        Fault{"clients 3\nedge 0 1 1 1", "f.topo:2: `edge` with 4 words"},
        Fault{"clients 3\nedge 0 1\nedge 0 1",
              "f.topo:3: edge 0 1 stands twice in one phase: weights would be ambiguous, "
              "first on line 2."},
        Fault{"clients 3\nedge 0 1\nphase 2\nedge 0 1", "f.topo:4: edge 0 1 stands twice"},
        Fault{"clients 3\nedge 1 1", "f.topo:2: edge 1 1 is a self loop: under `weights sender`"},
        Fault{"clients 3\nedge 0 1 0.5", "f.topo:2: edge 0 1 has a weight: `weights sender`"},
        Fault{"clients 3\nweights explicit\nedge 0 1", "f.topo:3: edge 0 1 has no weight"},
        Fault{"clients 3\nweights explicit\nedge 0 1 x", "f.topo:3: weight 'x' is not a number"},
        Fault{"clients 3\nweights explicit\nedge 0 1 1/0", "f.topo:3: weight '1/0' is not a number"},
        Fault{"clients 3\nweights explicit\nedge 0 1 -0.1", "f.topo:3: edge 0 1 has weight -0.1"},
        Fault{"clients 3\nweights explicit\nedge 0 1 nan", "f.topo:3: edge 0 1 has weight nan"},
        Fault{"clients 3\nweights explicit\nedge 0 1 inf", "f.topo:3: edge 0 1 has weight inf"},
        Fault{"clients 3\nweights metropolis\nedge 0 1", "f.topo:3: edge 0 1 has no edge back"},
        Fault{"clients 3\nphase 0", "f.topo:2: rounds of a phase '0'"},
        Fault{"clients 3\nphase 1e10", "f.topo:2: rounds of a phase '1e10'"},
        Fault{"clients 10000000\nphase 1\nphase 1\nphase 1", "f.topo: 10000000 clients in 3 phases"},
        Fault{"client 3", "f.topo:1: 'client' starts no statement"},
        Fault{std::string("cl\0ents 3", 9), "f.topo:1: byte 3 is part of UTF-16 or of no text"},
        Fault{"generate", "f.topo:1: `generate` with 0 words"},
        Fault{"generate ring", "f.topo:1: `generate` lacks clients=N"},
        Fault{"generate clients=3", "f.topo:1: `generate` lacks a family"},
        Fault{"generate rong clients=3", "f.topo:1: unknown topology family 'rong': known are ring"},
        Fault{"generate ring clients=0", "f.topo:1: clients '0'"},
        Fault{"generate ring clients=3 p=1", "f.topo:1: unknown key 'p'"},
        Fault{"generate complete clients=1000000", "f.topo:1: complete: 1000000 clients"},
        Fault{"generate erdos-renyi clients=1000000", "f.topo:1: erdos-renyi: 1000000 clients"},
        Fault{"generate erdos-renyi clients=10 p=2", "f.topo:1: erdos-renyi:p=2: p=2"},
        Fault{"\ngenerate ring clients=3\nedge 0 1", "f.topo:3: `edge` after `generate` on line 2"},
        Fault{"clients 3\ngenerate ring clients=3", "f.topo:2: `generate` beside"},
        Fault{"weights metropolis\ngenerate directed-ring clients=3",
              "f.topo:2: directed-ring: edge 0 1 has no edge back"},
        Fault{"weights explicit\ngenerate ring clients=3", "f.topo:2: ring with explicit weights"}));

TEST(Topology, ChecksWhatItIsConstructedFrom) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(Topology(0, WeightRule::sender, {}, {}), UsageError);
  EXPECT_THROW(Topology(max_clients + 1, WeightRule::sender, {}, {}), UsageError);
  EXPECT_THROW(Topology(2, WeightRule::sender, {{0, 2}}, {}), UsageError);
  EXPECT_THROW(Topology(2, WeightRule::sender, {{0, 0}}, {}), UsageError);
  EXPECT_THROW(Topology(2, WeightRule::sender, {{0, 1}, {0, 1}}, {}), UsageError);
  EXPECT_THROW(Topology(2, WeightRule::sender, {{0, 1}}, {{1, {{0, 1}}}}), UsageError);
  EXPECT_THROW(Topology(2, WeightRule::sender, {}, {{0, {}}}), UsageError);
  EXPECT_THROW(Topology(2, WeightRule::explicit_weights, {{0, 1, -1}}, {}), UsageError);
  EXPECT_THROW(Topology(2, WeightRule::explicit_weights, {{0, 1, nan}}, {}), UsageError);
  EXPECT_THROW(Topology(2, WeightRule::metropolis, {{0, 1}}, {}), UsageError);
}

TEST(Topology, FindsThePhaseOfARound) {
  const Topology topology(2, WeightRule::sender, {}, {{2, {{0, 1}}}, {1, {}}, {3, {{1, 0}}}});
  EXPECT_EQ(topology.period(), 6);
  for (const Round t : {0, 1, 6, 7, 600}) EXPECT_EQ(topology.links(0, t).out.size(), 1u) << t;
  for (const Round t : {2, 3, 4, 5, 8, 9, 11}) EXPECT_EQ(topology.links(0, t).out.size(), 0u) << t;
  for (const Round t : {3, 4, 5, 9, 603}) EXPECT_EQ(topology.links(0, t).in.size(), 1u) << t;
  EXPECT_THROW(static_cast<void>(topology.links(2, 0)), UsageError);
  EXPECT_THROW(static_cast<void>(topology.links(0, -1)), UsageError);
}

TEST(Topology, RoundTripsThroughItsText) {
  for (const std::string text :
       {"clients 1\n", "clients 3\nweights receiver\nedge 2 0\nedge 0 1\n",
        "clients 3\nweights explicit\nedge 0 0 0.1\nedge 0 1 1/3\nphase 3\nedge 1 2 0.7\nphase 1\n",
        "clients 4\nweights metropolis\nphase 5\nedge 1 2\nedge 2 1\n"}) {
    const Topology topology = Topology::parse(text, "f.topo");
    const Topology again = Topology::parse(topology.text(), "again");
    EXPECT_EQ(again.text(), topology.text());
    EXPECT_EQ(again.digest(), topology.digest());
    EXPECT_EQ(again.rule(), topology.rule());
  }
}

TEST(Topology, DigestIsOfTheMeaning) {
  const auto digest = [](const std::string& text) { return Topology::parse(text, "f.topo").digest(); };
  const std::string reference = digest("clients 2\nedge 0 1\nedge 1 0\n");
  EXPECT_EQ(reference.size(), 64u);
  EXPECT_EQ(reference, digest("# other words\nedge 1 0\nedge 0 1\nclients 2\nweights receiver"));
  EXPECT_EQ(reference, digest("clients 2\nweights explicit\nedge 0 0 0.5\nedge 0 1 0.5\nedge 1 0 0.5\nedge 1 1 0.5\n"));
  EXPECT_NE(reference, digest("clients 3\nedge 0 1\nedge 1 0\n"));
  EXPECT_NE(reference, digest("clients 2\nedge 0 1\n"));
  EXPECT_NE(reference, digest("clients 2\nphase 2\nedge 0 1\nedge 1 0\n"));
}

TEST(Topology, NamesTheClientWhoseSumIsWrong) {
  const Topology topology =
      Topology::parse("clients 3\nweights explicit\nedge 0 0 1\nedge 1 1 1\nedge 2 2 0.5\nedge 2 0 0.4\n", "f.topo");
  EXPECT_THAT(message_of<UsageError>([&] { topology.require_sender_sums(); }),
              StartsWith("weights of client 2 as sender sum to 0.9 in phase 0: push-sum needs 1 within 1e-9. "));
  EXPECT_THAT(message_of<UsageError>([&] { topology.require_receiver_sums(); }),
              StartsWith("weights of client 0 as receiver sum to 1.4 in phase 0: plain mixing needs 1 within 1e-9. "));
}

TEST(Topology, ForgetsItsLinksForGood) {
  Topology topology =
      Topology::parse("clients 3\nweights sender\nedge 0 1\nphase 2\nedge 1 2\nphase 1\nedge 2 0\n", "t");
  topology.forget_links();
  EXPECT_EQ(topology.clients(), 3);
  EXPECT_EQ(topology.period(), 3);
  EXPECT_EQ(topology.attendance(1, 5), Attendance::present);
  EXPECT_THROW(static_cast<void>(topology.links(0, 0)), std::logic_error);
  EXPECT_THROW(static_cast<void>(topology.digest()), std::logic_error);
  EXPECT_THROW(static_cast<void>(topology.text()), std::logic_error);
}

}  // namespace starling::topology_test
