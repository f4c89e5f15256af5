// The files in topologies/ and what its README claims of them.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "graph/analysis/analysis.hpp"
#include "support/testing.hpp"

namespace starling::ready_files_test {

const std::filesystem::path folder = std::filesystem::path(testing_support::source_folder()) / "topologies";

std::vector<std::string> files() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".topo") names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" `");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" `") - first + 1);
}

/// The cells of README.md's table, by file: file, clients, purpose, diameter, contraction, rounds to 1e-3.
std::map<std::string, std::vector<std::string>> claims() {
  std::map<std::string, std::vector<std::string>> rows;
  std::ifstream readme(folder / "README.md");
  for (std::string line; std::getline(readme, line);) {
    if (!line.starts_with("| `")) continue;
    std::istringstream cells(line.substr(1));
    std::vector<std::string> row;
    for (std::string cell; std::getline(cells, cell, '|');) row.push_back(trimmed(cell));
    rows[row[0]] = row;
  }
  return rows;
}

TEST(ReadyFiles, AreTenOrMoreAndAllInTheTable) {
  EXPECT_GE(files().size(), 10u);
  const auto table = claims();
  EXPECT_EQ(table.size(), files().size());
  for (const std::string& name : files()) EXPECT_TRUE(table.contains(name)) << name;
}

TEST(ReadyFiles, AreWhatTheTableSays) {
  const auto table = claims();
  for (const std::string& name : files()) {
    const auto graph = read_graph((folder / name).string());
    const TopologyAnalysis analysis = analyse(GraphSample(*graph));
    const auto& row = table.at(name);
    ASSERT_EQ(row.size(), 6u) << name;
    EXPECT_EQ(row[1], std::to_string(graph->clients())) << name;
    EXPECT_EQ(row[3], std::to_string(analysis.diameter.value())) << name;
    EXPECT_EQ(row[4], fmt::format("{:.4f}", analysis.contraction)) << name;
    EXPECT_EQ(row[5], std::to_string(analysis.rounds_to_1e_3.value())) << name;
  }
}

TEST(ReadyFiles, FitPushSumOrPlainMixing) {
  for (const std::string& name : files()) {
    const auto graph = read_graph((folder / name).string());
    const TopologyAnalysis analysis = analyse(GraphSample(*graph));
    EXPECT_TRUE(analysis.sender_sums.is_one() || analysis.receiver_sums.is_one()) << name;
    EXPECT_TRUE(analysis.joint_window.has_value()) << name;
  }
}

TEST(ReadyFiles, TheDissertationsWeightsSumToOnePerReceiver) {
  const Topology topology = Topology::read((folder / "dissertation-3.topo").string());
  EXPECT_NO_THROW(topology.require_receiver_sums());
  EXPECT_THROW(topology.require_sender_sums(), UsageError);
  EXPECT_EQ(topology.links(2, 0), (Links{0.1, {{0, 0.3}, {1, 0.4}}, {{0, 0.8}, {1, 0.1}}}));
}

TEST(ReadyFiles, TheSmallMassIsSmall) {
  const TopologyAnalysis analysis = analyse(Topology::read((folder / "small-mass-8.topo").string()));
  const auto least = std::min_element(analysis.perron.begin(), analysis.perron.end());
  EXPECT_NEAR(8 * *least, 8.0 / 127, 1e-12);
  EXPECT_EQ(least - analysis.perron.begin(), 3);
}

TEST(ReadyFiles, ThreePhasesAreConnectedTogetherAndNoneAlone) {
  const Topology topology = Topology::read((folder / "b3-5.topo").string());
  const TopologyAnalysis analysis = analyse(topology);
  EXPECT_EQ(analysis.strongly_connected, (std::vector<bool>{false, false, false}));
  EXPECT_EQ(analysis.joint_window, 3);
  EXPECT_GT(analysis.bias, 0.4);
}

TEST(ReadyFiles, TheQuickstartIsClearlyUnbalanced) {
  EXPECT_GT(analyse(Topology::read((folder / "unbalanced-5.topo").string())).bias, 0.4);
}

}  // namespace starling::ready_files_test
