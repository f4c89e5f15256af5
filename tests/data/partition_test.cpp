#include "starling/data/partition.hpp"

#include "support/testing.hpp"
#include <algorithm>
#include <gmock/gmock.h>
#include <map>
#include <string>

#include "starling/core/check.hpp"
#include "starling/core/random.hpp"

namespace starling {
namespace {

using namespace testing_support;
using testing::HasSubstr;

Vector some_labels(std::size_t size, std::uint64_t classes = 3) {
  AddressedRandom random(7, Purpose::experiment, 0, 0);
  Vector labels(size);
  for (double& label : labels) label = static_cast<double>(random.below(classes));
  return labels;
}

std::vector<std::size_t> share_sizes(const std::vector<Client>& owner, Client clients) {
  std::vector<std::size_t> sizes(static_cast<std::size_t>(clients));
  for (const Client u : owner) ++sizes.at(static_cast<std::size_t>(u));
  return sizes;
}

/// A row of the table as a spec that can be made: required keys get a value.
std::string example(const Table<Partition>::Row& row) {
  return row.name == "dirichlet" ? "dirichlet:0.5" : row.name;
}

class PartitionConformance : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] std::vector<Client> assign(View labels, Client clients, std::uint64_t seed) const {
    return partition_table().make(GetParam())->assign(labels, clients, seed);
  }
};

TEST_P(PartitionConformance, EveryRecordHasOneClientThatExists) {
  for (const std::size_t records : {0U, 1U, 3U, 100U, 1001U}) {
    for (const Client clients : {1, 2, 7, 100}) {
      const std::vector<Client> owner = assign(some_labels(records), clients, 1);
      ASSERT_EQ(owner.size(), records);
      for (const Client u : owner) {
        ASSERT_GE(u, 0);
        ASSERT_LT(u, clients);
      }
    }
  }
}

TEST_P(PartitionConformance, TheSameSeedGivesTheSame) {
  const Vector labels = some_labels(500);
  EXPECT_EQ(assign(labels, 7, 3), assign(labels, 7, 3));
}

TEST_P(PartitionConformance, AnotherSeedGivesAnotherUnlessNothingIsRandom) {
  const Vector labels = some_labels(500);
  EXPECT_EQ(assign(labels, 7, 3) == assign(labels, 7, 4), GetParam() == "contiguous");
}

INSTANTIATE_TEST_SUITE_P(Table, PartitionConformance, testing::ValuesIn([] {
                           std::vector<std::string> specs;
                           for (const auto& row : partition_table().rows()) specs.push_back(example(row));
                           return specs;
                         }()),
                         [](const auto& instance) { return test_name(instance.param); });

TEST(Contiguous, GivesEqualBlocksInFileOrder) {
  const auto owner = partition_table().make("contiguous")->assign(some_labels(10), 4, 1);
  EXPECT_EQ(owner, (std::vector<Client>{0, 0, 0, 1, 1, 2, 2, 2, 3, 3}));
}

TEST(Iid, SizesDifferByAtMostOneAndNoBlockIsLeft) {
  for (const Client clients : {1, 3, 7, 64}) {
    const auto owner = partition_table().make("iid")->assign(some_labels(1000), clients, 5);
    const auto sizes = share_sizes(owner, clients);
    EXPECT_LE(*std::max_element(sizes.begin(), sizes.end()) - *std::min_element(sizes.begin(), sizes.end()), 1U);
    EXPECT_EQ(std::is_sorted(owner.begin(), owner.end()), clients == 1);
  }
}

/// Mean over the clients that have records of the total variation distance between their classes and all records'.
double skew(const std::string& spec, std::uint64_t seed) {
  const Vector labels = some_labels(3000);
  constexpr Client clients = 10;
  const auto owner = partition_table().make(spec)->assign(labels, clients, seed);
  const auto sizes = share_sizes(owner, clients);
  std::map<double, Vector> counts;
  std::map<double, double> all;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    auto& row = counts.try_emplace(labels[i], Vector(clients)).first->second;
    ++row[static_cast<std::size_t>(owner[i])];
    ++all[labels[i]];
  }
  double total = 0;
  double used = 0;
  for (std::size_t u = 0; u < clients; ++u) {
    if (sizes[u] == 0) continue;
    ++used;
    for (const auto& [label, row] : counts) {
      total += std::abs(row[u] / static_cast<double>(sizes[u]) - all[label] / 3000) / 2;
    }
  }
  return total / used;
}

TEST(Dirichlet, SkewGrowsAsAlphaFalls) {
  for (const std::string balanced : {"0", "1"}) {
    double previous = 0;
    for (const std::string alpha : {"1000000", "100", "5", "0.5", "0.05"}) {
      double mean = 0;
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        mean += skew("dirichlet:" + alpha + ",balanced=" + balanced, seed) / 20;
      }
      EXPECT_GT(mean, previous) << "alpha " << alpha << ", balanced " << balanced;
      previous = mean;
    }
    EXPECT_LT(skew("dirichlet:1000000,balanced=" + balanced, 1), 0.02);
    EXPECT_GT(previous, 0.4) << "balanced " << balanced;
  }
}

TEST(Dirichlet, BalancedClientsAreAboutEquallyLargeAndOthersAreNot) {
  const Vector labels = some_labels(3000);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto balanced = share_sizes(partition_table().make("dirichlet:0.5")->assign(labels, 10, seed), 10);
    for (const std::size_t size : balanced) EXPECT_NEAR(static_cast<double>(size), 300, 6) << "seed " << seed;
  }
  const auto drawn = share_sizes(partition_table().make("dirichlet:0.5,balanced=0")->assign(labels, 10, 1), 10);
  EXPECT_GT(*std::max_element(drawn.begin(), drawn.end()), 400U);
}

TEST(Dirichlet, AClassIsCutAtItsShares) {
  // With one class and a large alpha every client gets a tenth, give or take one record and 1 % for the draw.
  const auto owner = partition_table().make("dirichlet:alpha=1e8")->assign(Vector(1000, 1.0), 10, 1);
  for (const std::size_t size : share_sizes(owner, 10)) EXPECT_NEAR(static_cast<double>(size), 100, 2);
  EXPECT_FALSE(std::is_sorted(owner.begin(), owner.end()));
}

TEST(Dirichlet, RefusesWhatItCannotUse) {
  EXPECT_THAT(message_of<UsageError>([] { static_cast<void>(partition_table().make("dirichlet")); }),
              HasSubstr("lacks 'alpha'"));
  for (const std::string alpha : {"0", "-1", "nan", "inf"}) {
    EXPECT_THAT(message_of<UsageError>([&] { static_cast<void>(partition_table().make("dirichlet:" + alpha)); }),
                HasSubstr("it must lie between"));
  }
  Vector continuous(20'000);
  for (std::size_t i = 0; i < continuous.size(); ++i) continuous[i] = static_cast<double>(i);
  EXPECT_THAT(message_of<UsageError>(
                  [&] { static_cast<void>(partition_table().make("dirichlet:1")->assign(continuous, 2, 1)); }),
              HasSubstr("distinct labels (it is meant for classes)"));
}

TEST(PartitionTable, UnknownNamesListTheKnown) {
  EXPECT_EQ(message_of<UsageError>([] { static_cast<void>(partition_table().make("sorted")); }),
            "unknown partition 'sorted' (known: contiguous, iid, dirichlet)");
}

}  // namespace
}  // namespace starling
