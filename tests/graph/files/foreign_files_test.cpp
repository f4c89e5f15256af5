// MatrixMarket files and edge lists: as SciPy and NetworkX write them, malformed ones, and damaged ones.
#include <array>

#include "graph/analysis/analysis.hpp"
#include "support/mutations.hpp"
#include "support/testing.hpp"

namespace starling::foreign_files_test {

using namespace testing_support;

/// A[to, from] of the reference topology, in the text of the three formats.
const std::string reference =
    "clients 3\nweights explicit\nedge 0 0 0.5\nedge 0 1 0.5\nedge 1 1 0.25\nedge 1 2 0.75\nedge 2 0 1\n";
/// scipy.io.mmwrite, of a csc_array: columns one after the other.
const std::string scipy =
    "%%MatrixMarket matrix coordinate real general\n%\n3 3 5\n1 1 5.0000000000000000e-01\n2 1 5.0000000000000000e-01\n"
    "2 2 2.5000000000000000e-01\n3 2 7.5000000000000000e-01\n1 3 1.0000000000000000e+00\n";
/// The same with the shortest numbers, as recent versions write them.
const std::string scipy_short =
    "%%MatrixMarket matrix coordinate real general\n%\n3 3 5\n1 1 5E-1\n2 1 5E-1\n2 2 2.5E-1\n3 2 7.5E-1\n1 3 1E0\n";
/// networkx.write_weighted_edgelist of a DiGraph.
const std::string networkx = "0 0 0.5\n0 1 0.5\n1 1 0.25\n1 2 0.75\n2 0 1\n";
/// networkx.write_edgelist of the same, without and with delimiter=",", and with a further attribute.
const std::string networkx_data =
    "0 0 {'weight': 0.5}\n0 1 {'weight': 0.5}\n1 1 {'weight': 0.25}\n1 2 {'weight': 0.75}\n2 0 {'weight': 1}\n";
const std::string networkx_commas =
    "0,0,{'weight': 0.5}\n0,1,{'weight': 0.5}\n1,1,{'weight': 0.25}\n1,2,{'weight': 0.75}\n2,0,{'weight': 1}\n";
const std::string networkx_more =
    "0 0 {'to': \"Anna's, 'weight': 3\", 'a': (1, 2), 'b': 'it\\\'s', 'weight': 0.5}\n0 1 {'weight': np.float64(0.5), "
    "'w': (1, 2)}\n"
    "1 1 {\"weight\":0.25}\n1 2 { 'weight' : 0.75 }\n2 0 {'weight': 1} # back\n";
/// scipy.io.mmwrite of a NumPy array: all numbers, columns one after the other.
const std::string scipy_array =
    "%%MatrixMarket matrix array real general\n%\n3 3\n5e-01\n5e-01\n0e+00\n0\n0.25\n0.75\n1\n0\n0\n";

std::string matrix_error(const std::string& text) {
  return message_of<UsageError>([&] { return Topology::parse_matrix_market(text, "f.mtx"); });
}
std::string list_error(const std::string& text) {
  return message_of<UsageError>([&] { return Topology::parse_edge_list(text, "f.edges"); });
}

TEST(ForeignFiles, AreReadByTheirEndings) {
  const TemporaryFolder folder;
  const std::string digest = Topology::parse(reference, "f.topo").digest();
  const std::vector<std::pair<std::string, std::string>> files = {
      {"a.mtx", scipy},           {"b.mtx", scipy_short},
      {"c.mtx", scipy_array},     {"a.edges", networkx},
      {"a.txt", networkx},        {"a.edgelist", networkx},
      {"b.edges", networkx_data}, {"c.edges", networkx_commas},
      {"d.edges", networkx_more}, {"e.edges", "0,0,0.5\n0, 1, 0.5\n1,1,0.25\n1,2,0.75\n2,0,1\n"},
      {"a.topo", reference}};
  for (const auto& [name, text] : files) {
    const Topology topology = Topology::read(folder.write(name, text));
    EXPECT_EQ(topology.digest(), digest) << name;
    EXPECT_EQ(topology.rule(), WeightRule::explicit_weights) << name;
    EXPECT_EQ(Topology::parse(topology.text(), "again").digest(), digest) << name;
  }
}

TEST(ForeignFiles, AMatrixEntryIsTheWeightFromColumnToRow) {
  const Topology topology =
      Topology::parse_matrix_market("%%MatrixMarket matrix coordinate real general\n2 2 2\n2 1 0.3\n1 1 0.7\n", "f");
  EXPECT_EQ(topology.links(0, 0), (Links{0.7, {{1, 0.3}}, {}}));
}

TEST(ForeignFiles, ASymmetricMatrixStandsForBothTriangles) {
  const Topology topology = Topology::parse_matrix_market(
      "%%MatrixMarket matrix coordinate real symmetric\n%\n2 2 3\n1 1 7.5e-01\n2 1 2.5e-01\n2 2 7.5e-01\n", "f");
  EXPECT_EQ(topology.links(0, 0), (Links{0.75, {{1, 0.25}}, {{1, 0.25}}}));
  EXPECT_EQ(topology.links(1, 0), (Links{0.75, {{0, 0.25}}, {{0, 0.25}}}));
}

TEST(ForeignFiles, ASymmetricArrayIsItsLowerTriangle) {
  const std::string banner = "%%MatrixMarket matrix array real symmetric\n3 3\n";
  const Topology topology = Topology::parse_matrix_market(banner + "0.5\n0.5\n0\n0.25\n0.25\n0.75\n", "f");
  EXPECT_EQ(topology.links(0, 0), (Links{0.5, {{1, 0.5}}, {{1, 0.5}}}));
  EXPECT_EQ(topology.links(1, 0), (Links{0.25, {{0, 0.5}, {2, 0.25}}, {{0, 0.5}, {2, 0.25}}}));
  EXPECT_EQ(topology.links(2, 0), (Links{0.75, {{1, 0.25}}, {{1, 0.25}}}));
}

TEST(ForeignFiles, AnIntegerMatrixIsAHop) {
  const Topology topology = Topology::parse_matrix_market(
      "%%MATRIXMARKET Matrix Coordinate INTEGER General\r\n% by hand\r\n\r\n2 2 2\r\n2 1 1\r\n%\r\n1 2 1\r\n", "f");
  EXPECT_EQ(topology.links(0, 0), (Links{0, {{1, 1}}, {{1, 1}}}));
}

TEST(ForeignFiles, WithoutWeightsHaveSenderSharesAndImpliedSelfLoops) {
  const std::string digest = Topology::parse("clients 3\nedge 0 1\nedge 0 2\nedge 1 0\nedge 2 0\n", "f").digest();
  const std::string pattern = "%%MatrixMarket matrix coordinate pattern symmetric\n%\n3 3 3\n2 1\n3 1\n3 3\n";
  EXPECT_EQ(Topology::parse_matrix_market(pattern, "f").digest(), digest);
  const std::string empty_data = "0 1 {}\n0 2 {}\n1 0 { }\n2 0 {}\n";
  EXPECT_EQ(Topology::parse_edge_list(empty_data, "f").digest(), digest);
  EXPECT_EQ(Topology::parse_edge_list("# a star\n\n0 1\n0 2\n1 0\n2 0 # the last\n2 2\n", "f").digest(), digest);
}

TEST(ForeignFiles, NumbersOfNumPyAreNumbers) {
  const std::string plain = "0 1 {'weight': 0.5}\n0 0 {'weight': 0.5}\n1 1 {'weight': 1.0}\n";
  const std::string digest = Topology::parse_edge_list(plain, "f").digest();
  for (const std::string type : {"float16", "float32", "float64", "longdouble"}) {
    const auto shown = [&](const std::string& number) { return "np." + type + "(" + number + ")"; };
    EXPECT_EQ(Topology::parse_edge_list("0 1 {'weight': " + shown("0.5") + "}\n0 0 {'weight': " + shown("0.5") +
                                            "}\n1 1 {'weight': " + shown("1.0") + "}\n",
                                        "f")
                  .digest(),
              digest)
        << type;
  }
}

TEST(ForeignFiles, KeepWeightsToTheLastBit) {
  for (const auto& row : topology_table().rows()) {
    const Topology topology = topology_of(*topology_table().make(row.name, 8, WeightRule::sender));
    if (topology.period() > 1) continue;
    std::string list;
    std::string entries;
    int count = 0;
    const auto add = [&](Client from, Client to, double weight) {
      list += fmt::format("{} {} {}\n", from, to, weight);
      entries += fmt::format("{} {} {:.16e}\n", to + 1, from + 1, weight);
      ++count;
    };
    for (Client u = 0; u < 8; ++u) {
      add(u, u, topology.phase_links(0, u).own);
      for (const Arc& arc : topology.phase_links(0, u).out) add(u, arc.peer, arc.weight);
    }
    const std::string banner = fmt::format("%%MatrixMarket matrix coordinate real general\n%\n8 8 {}\n", count);
    EXPECT_EQ(Topology::parse_edge_list(list, "f").digest(), topology.digest()) << row.name;
    EXPECT_EQ(Topology::parse_matrix_market(banner + entries, "f").digest(), topology.digest()) << row.name;
  }
}

TEST(ForeignFiles, MalformedMatricesAreRefusedWithFileAndLine) {
  const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
  const std::string array = "%%MatrixMarket matrix array real general\n";
  const std::vector<std::array<std::string, 3>> table = {
      {"", "f.mtx: ", "banner"},
      {"clients 3\n", "f.mtx:1: ", "banner"},
      {"%%MatrixMarket vector coordinate real general\n", "f.mtx:1: ", "banner"},
      {"%%MatrixMarket matrix coordinate real\n", "f.mtx:1: ", "banner"},
      {"%%MatrixMarket matrix list real general\n2 2\n", "f.mtx:1: ", "list"},
      {"%%MatrixMarket matrix array pattern general\n2 2\n", "f.mtx:1: ", "an array of patterns"},
      {array, "f.mtx: ", "no line of sizes"},
      {array + "2 2 4\n", "f.mtx:2: ", "3 words in the line of sizes: rows, columns."},
      {array + "2 3\n", "f.mtx:2: ", "2 rows and 3 columns"},
      {array + "10000000 10000000\n", "f.mtx:2: ", "100000000000000 numbers"},
      {array + "2 2\n1\n0\n0\n", "f.mtx: ", "3 entries: line 2 announces 4"},
      {array + "1 1\n1\n1\n", "f.mtx:4: ", "more entries"},
      {array + "2 2\n1 0\n", "f.mtx:3: ", "2 words in a line of an array"},
      {array + "1 1\n-1\n", "f.mtx:3: ", "weight -1"},
      {"%%MatrixMarket matrix coordinate complex general\n", "f.mtx:1: ", "complex"},
      {"%%MatrixMarket matrix coordinate real hermitian\n", "f.mtx:1: ", "hermitian"},
      {"%%MatrixMarket matrix coordinate real skew-symmetric\n", "f.mtx:1: ", "skew"},
      {banner, "f.mtx: ", "no line of sizes"},
      {banner + "%\n2 2\n", "f.mtx:3: ", "2 words"},
      {banner + "2 3 0\n", "f.mtx:2: ", "2 rows and 3 columns"},
      {banner + "0 0 0\n", "f.mtx:2: ", "rows '0'"},
      {banner + "1e9 1e9 0\n", "f.mtx:2: ", "rows '1e9'"},
      {banner + "2 2 -1\n", "f.mtx:2: ", "entries '-1'"},
      {banner + "2 2 2\n1 1 1\n", "f.mtx: ", "1 entries: line 2 announces 2"},
      {banner + "2 2 1\n1 1 1\n2 2 1\n", "f.mtx:4: ", "more entries"},
      {banner + "2 2 1\n0 1 1\n", "f.mtx:3: ", "row '0'"},
      {banner + "2 2 1\n1 3 1\n", "f.mtx:3: ", "column '3'"},
      {banner + "2 2 1\n1 1\n", "f.mtx:3: ", "ROW COLUMN WEIGHT"},
      {banner + "2 2 1\n1 1 x\n", "f.mtx:3: ", "'x'"},
      {banner + "2 2 1\n1 1 -1\n", "f.mtx:3: ", "weight -1"},
      {banner + "2 2 1\n1 1 nan\n", "f.mtx:3: ", "nan"},
      {banner + "2 2 2\n2 1 1\n2 1 1\n", "f.mtx:4: ", "twice"},
      {"%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n2 1 1\n1 2 1\n", "f.mtx:4: ", "twice"},
      {"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1 1\n", "f.mtx:3: ", "ROW COLUMN`"},
  };
  for (const auto& [text, start, part] : table) {
    EXPECT_THAT(matrix_error(text), AllOf(StartsWith(start), HasSubstr(part))) << text;
  }
}

TEST(ForeignFiles, MalformedEdgeListsAreRefusedWithFileAndLine) {
  const std::vector<std::array<std::string, 3>> table = {
      {"", "f.edges: ", "no edges"},
      {"# nothing\n", "f.edges: ", "no edges"},
      {"0\n", "f.edges:1: ", "1 words"},
      {"0 1 0.5 2\n", "f.edges:1: ", "4 words"},
      {"0 1 {'weight': 0.5\n", "f.edges:1: ", "without closing brace"},
      {"0 1 {'colour': '#f00', 'weight': 0.5}\n", "f.edges:1: ", "without closing brace"},
      {"0 1 {'colour': 'red'}\n", "f.edges:1: ", "data=['NAME']"},
      {"0 1 {'name': \"'weight': 1\"}\n", "f.edges:1: ", "data=['NAME']"},
      {"0 1 {'names': ['x', {'weight': 1}]}\n", "f.edges:1: ", "data=['NAME']"},
      {"0 1 {weight}\n", "f.edges:1: ", "data=['NAME']"},
      {"0 1 {'weight': 'half'}\n", "f.edges:1: ", "''half''"},
      {"0 1 {'weight': 1}\n1 0 {}\n", "f.edges:2: ", "without a weight: line 1 has one"},
      {"0 1 0.5 {}\n", "f.edges:1: ", "3 words"},
      {"0,1,0.5,2\n", "f.edges:1: ", "4 words"},
      {"0,,1\n", "f.edges:1: ", "0 words between commas"},
      {"0,1 2\n", "f.edges:1: ", "2 words between commas"},
      {"0,1,\n", "f.edges:1: ", "0 words between commas"},
      {"0 1\n1,0\n", "f.edges:2: ", "1 words"},
      {"a b 0.5\n", "f.edges:1: ", "'a' and 'b' are no numbers of clients"},
      {"a 1 0.5\n", "f.edges:1: ", "sender 'a'"},
      {"1 2\n2 1\n", "f.edges: ", "this list from 1, up to 2. Count from 0: awk '!/^#/ {$1--; $2--} 1' FILE > NEW."},
      {"1,2\n2,1\n", "f.edges: ", "awk -F, -v OFS=, '!/^#/ {$1--; $2--} 1' FILE > NEW."},
      {"0 -1 0.5\n", "f.edges:1: ", "receiver '-1'"},
      {"0 10000000\n", "f.edges:1: ", "receiver '10000000'"},
      {"0 1 half\n", "f.edges:1: ", "'half'"},
      {"0 1 inf\n", "f.edges:1: ", "inf"},
      {"0 1 0.5\n\n1 0\n", "f.edges:3: ", "without a weight: line 1 has one"},
      {"0 1\n1 0 1\n", "f.edges:2: ", "with a weight: line 1 has none"},
      {"0 1 1\n0 1 1\n", "f.edges:2: ", "twice"},
      {"clients 3\n", "f.edges:1: ", "sender 'clients'"},
  };
  for (const auto& [text, start, part] : table) {
    EXPECT_THAT(list_error(text), AllOf(StartsWith(start), HasSubstr(part))) << text;
  }
}

using Reader = Topology (*)(std::string_view, const std::string&);

/// Some of 5,000 damaged texts are accepted, and have a text of their own then; some are refused.
void expect_total(const std::string& valid, Reader reader) {
  const Texts fragments = {
      "%",  "\n", " ", "-", "1e300",     "nan",  "{",       "1/0", "inf", "#",    std::string(1, '\0'),
      "99", "0",  ",", "}", "symmetric", "\r\n", "pattern", "'",   ":",   "array"};
  const auto read = [&](const std::string& text) {
    try {
      const Topology topology = reader(text, "f.any");
      if (topology.clients() > 100) return true;
      EXPECT_EQ(Topology::parse(topology.text(), "again").digest(), topology.digest()) << text;
      return true;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), StartsWith("f.any")) << text;
      return false;
    }
  };
  const Outcomes outcomes = try_damaged({valid}, fragments, 5'000, 2, read, small_numbers);
  EXPECT_GT(outcomes.read, 100) << valid;
  EXPECT_GT(outcomes.refused, 400) << valid;
}

TEST(ForeignFiles, DamagedOnesGiveATopologyOrAUsageError) {
  const std::string pattern = "%%MatrixMarket matrix coordinate pattern symmetric\n%\n3 3 3\n2 1\n3 1\n3 3\n";
  for (const std::string& valid : {scipy, scipy_short, scipy_array, pattern}) {
    expect_total(valid, Topology::parse_matrix_market);
  }
  for (const std::string& valid : {networkx, networkx_data, std::string("# a star\n0 1\n0 2\n1 0\n2 0\n")}) {
    expect_total(valid, Topology::parse_edge_list);
  }
}

}  // namespace starling::foreign_files_test
