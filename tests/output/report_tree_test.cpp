#include <cmath>
#include <cstdint>

#include "output/network_reporter.hpp"
#include "support/testing.hpp"

namespace starling::report_tree_test {

constexpr std::size_t head = ReportTree::figures + 1;

Vector leaf(Client u) {
  Vector node(head + 3);
  node[ReportTree::first] = u;
  node[ReportTree::clients] = 1;
  node[ReportTree::figures] = std::sin(u);
  for (std::size_t i = 0; i < 3; ++i) node[head + i] = std::cos(7.0 * u + static_cast<double>(i)) / (u + 1);
  return node;
}

/// The figures of all clients, of which each rank has a block that ends where `ends` says.
Vector total(const std::vector<Client>& ends) {
  ReportTree all(head);
  Client u = 0;
  for (const Client end : ends) {
    ReportTree rank(head);
    for (; u < end; ++u) rank.add(leaf(u));
    for (const Vector& node : rank.nodes()) all.add(node);
  }
  return all.total();
}

TEST(ReportTree, HasTheSameBitsForAnyLayout) {
  const Vector alone = total({23});
  EXPECT_EQ(alone[ReportTree::clients], 23);
  for (const std::vector<Client>& ends :
       {std::vector<Client>{1, 23}, {8, 16, 23}, {5, 10, 15, 20, 23}, {0, 11, 11, 23}, {22, 23}}) {
    EXPECT_EQ(total(ends), alone);
  }
}

TEST(ReportTree, AddsUpAndMeasuresTheSpread) {
  const Vector all = total({4, 13});
  double sum = 0;
  Vector mean(3);
  for (Client u = 0; u < 13; ++u) {
    sum += leaf(u)[ReportTree::figures];
    for (std::size_t i = 0; i < 3; ++i) mean[i] += leaf(u)[head + i] / 13;
  }
  double spread = 0;
  for (Client u = 0; u < 13; ++u) {
    for (std::size_t i = 0; i < 3; ++i) spread += std::pow(leaf(u)[head + i] - mean[i], 2);
  }
  EXPECT_NEAR(all[ReportTree::figures], sum, 1e-14);
  EXPECT_NEAR(all[ReportTree::spread], spread, 1e-14);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(all[head + i] / 13, mean[i], 1e-15);
}

TEST(ReportTree, KeepsAsFewNodesAsTheLayoutAllows) {
  ReportTree tree(head);
  for (Client u = 3; u < 17; ++u) tree.add(leaf(u));
  std::vector<double> counts;
  for (const Vector& node : tree.nodes()) counts.push_back(node[ReportTree::clients]);
  EXPECT_EQ(counts, (std::vector<double>{1, 4, 8, 1}));
}

}  // namespace starling::report_tree_test
