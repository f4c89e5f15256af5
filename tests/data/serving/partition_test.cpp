#include "data/serving/partition.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "core/check.hpp"
#include "core/random.hpp"
#include "support/testing.hpp"

namespace starling::partition_test {

using namespace testing_support;

Vector some_labels(std::size_t size, std::uint64_t classes = 3) {
  AddressedRandom random(7, Purpose::experiment, 0, 0);
  Vector labels(size);
  for (double& label : labels) label = static_cast<double>(random.below(classes));
  return labels;
}

/// What a pass would find: the labels, and a key column of as many values.
Found found_of(const Vector& labels, std::int32_t values = 100) {
  Found found;
  found.records = static_cast<std::int64_t>(labels.size());
  found.labels = labels;
  for (std::size_t i = 0; i < labels.size(); ++i) found.keys.push_back(static_cast<std::int32_t>(i * 7) % values);
  for (std::int32_t k = 0; k < values; ++k) found.values.push_back(std::to_string(k));
  return found;
}

std::vector<std::size_t> share_sizes(const std::vector<Client>& owner, Client clients) {
  std::vector<std::size_t> sizes(static_cast<std::size_t>(clients));
  for (const Client u : owner) ++sizes.at(static_cast<std::size_t>(u));
  return sizes;
}

/// A row of the table as a spec that can be made: required keys get a value.
std::string example(const Table<Partition>::Row& row) {
  static const std::map<std::string, std::string> values{
      {"dirichlet", "dirichlet:0.5"}, {"shards", "shards:2"}, {"column", "column:site"}};
  const auto found = values.find(row.name);
  return found == values.end() ? row.name : found->second;
}

class PartitionConformance : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] std::vector<Client> assign(const Vector& labels, Client clients, std::uint64_t seed) const {
    return partition_table().make(GetParam())->assign(found_of(labels), clients, seed);
  }
  /// Shards must be no more than records.
  [[nodiscard]] bool cannot_deal(std::size_t records, Client clients) const {
    return GetParam() == "shards:2" && records < static_cast<std::size_t>(2 * clients);
  }
};

TEST_P(PartitionConformance, EveryRecordHasOneClientThatExists) {
  for (const std::size_t records : {0U, 1U, 3U, 100U, 1001U}) {
    for (const Client clients : {1, 2, 7, 100}) {
      if (cannot_deal(records, clients)) continue;
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
  const bool nothing_is_random =
      GetParam() == "contiguous" || GetParam() == "round-robin" || GetParam() == "column:site";
  EXPECT_EQ(assign(labels, 7, 3) == assign(labels, 7, 4), nothing_is_random);
}

TEST_P(PartitionConformance, SharesAreWhatWasAssigned) {
  const Found found = found_of(some_labels(500));
  const auto partition = partition_table().make(GetParam());
  const std::vector<Client> owner = partition->assign(found, 7, 3);
  for (const auto& [first, count] : {std::pair<Client, Client>{0, 7}, {2, 3}, {6, 1}, {3, 0}}) {
    const Deal deal = partition->deal(found, 7, first, count, 3);
    ASSERT_EQ(deal.sizes.size(), 7U);
    for (Client u = 0; u < 7; ++u) {
      EXPECT_EQ(deal.sizes[static_cast<std::size_t>(u)], std::count(owner.begin(), owner.end(), u));
    }
    ASSERT_EQ(deal.shares.size(), static_cast<std::size_t>(count));
    for (Client k = 0; k < count; ++k) {
      std::int64_t covered = 0;
      for (const Share::Run& run : deal.shares[static_cast<std::size_t>(k)].runs()) {
        for (std::int64_t i = run.first; i < run.first + run.count; ++i) {
          EXPECT_EQ(owner.at(static_cast<std::size_t>(i)), first + k);
          ++covered;
        }
      }
      EXPECT_EQ(covered, deal.sizes[static_cast<std::size_t>(first + k)]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, PartitionConformance, testing::ValuesIn([] {
                           std::vector<std::string> specs;
                           for (const auto& row : partition_table().rows()) {
                             if (row.name != "file") specs.push_back(example(row));  // it has tests of its own
                           }
                           return specs;
                         }()),
                         [](const auto& instance) { return test_name(instance.param); });

TEST(Contiguous, GivesEqualBlocksInFileOrder) {
  const auto owner = partition_table().make("contiguous")->assign(found_of(some_labels(10)), 4, 1);
  EXPECT_EQ(owner, (std::vector<Client>{0, 0, 0, 1, 1, 2, 2, 2, 3, 3}));
}

TEST(Iid, SizesDifferByAtMostOneAndNoBlockIsLeft) {
  for (const Client clients : {1, 3, 7, 64}) {
    const auto owner = partition_table().make("iid")->assign(found_of(some_labels(1000)), clients, 5);
    const auto sizes = share_sizes(owner, clients);
    EXPECT_LE(*std::max_element(sizes.begin(), sizes.end()) - *std::min_element(sizes.begin(), sizes.end()), 1U);
    EXPECT_EQ(std::is_sorted(owner.begin(), owner.end()), clients == 1);
  }
}

/// Mean over the clients that have records of the total variation distance between their classes and all records'.
double skew(const std::string& spec, std::uint64_t seed) {
  const Vector labels = some_labels(3000);
  constexpr Client clients = 10;
  const auto owner = partition_table().make(spec)->assign(found_of(labels), clients, seed);
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
    const auto balanced = share_sizes(partition_table().make("dirichlet:0.5")->assign(found_of(labels), 10, seed), 10);
    for (const std::size_t size : balanced) EXPECT_NEAR(static_cast<double>(size), 300, 6) << "seed " << seed;
  }
  const auto drawn =
      share_sizes(partition_table().make("dirichlet:0.5,balanced=0")->assign(found_of(labels), 10, 1), 10);
  EXPECT_GT(*std::max_element(drawn.begin(), drawn.end()), 400U);
}

TEST(Dirichlet, AClassIsCutAtItsShares) {
  // With one class and a large alpha every client gets a tenth, give or take one record and 1 % for the draw.
  const auto owner = partition_table().make("dirichlet:alpha=1e8")->assign(found_of(Vector(1000, 1.0)), 10, 1);
  for (const std::size_t size : share_sizes(owner, 10)) EXPECT_NEAR(static_cast<double>(size), 100, 2);
  EXPECT_FALSE(std::is_sorted(owner.begin(), owner.end()));
}

TEST(Dirichlet, RefusesWhatItCannotUse) {
  EXPECT_ERROR(UsageError, "lacks 'alpha'", partition_table().make("dirichlet"));
  for (const std::string alpha : {"0", "-1", "nan", "inf"}) {
    EXPECT_ERROR(UsageError, "it must lie between", partition_table().make("dirichlet:" + alpha));
  }
  Vector continuous(20'000);
  for (std::size_t i = 0; i < continuous.size(); ++i) continuous[i] = static_cast<double>(i);
  EXPECT_ERROR(UsageError, "distinct labels: it is meant for classes.",
               partition_table().make("dirichlet:1")->assign(found_of(continuous), 2, 1));
}

TEST(RoundRobin, GoesThroughTheSourceAtOnePace) {
  const auto owner = partition_table().make("round-robin")->assign(found_of(some_labels(7)), 3, 1);
  EXPECT_EQ(owner, (std::vector<Client>{0, 1, 2, 0, 1, 2, 0}));
}

TEST(Shards, EveryClientHasFewClassesAndEqualSize) {
  Vector labels(6000);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<double>(i % 10);
  for (const int per_client : {1, 2, 3}) {
    const auto owner = partition_table().make(fmt::format("shards:{}", per_client))->assign(found_of(labels), 10, 4);
    std::vector<std::map<double, int>> classes(10);
    for (std::size_t i = 0; i < labels.size(); ++i) ++classes[static_cast<std::size_t>(owner[i])][labels[i]];
    for (std::size_t u = 0; u < 10; ++u) {
      EXPECT_EQ(share_sizes(owner, 10)[u], 600U);
      EXPECT_LE(classes[u].size(), static_cast<std::size_t>(per_client)) << "a shard holds one class here";
    }
  }
}

TEST(Shards, MoreShardsThanRecordsAreRefused) {
  EXPECT_ERROR(UsageError, "11 records are fewer than shards",
               partition_table().make("shards:4")->assign(found_of(some_labels(11)), 3, 1));
}

TEST(ByColumn, ValuesAreClientsOrNeighbouringValuesAre) {
  const auto partition = partition_table().make("column:site");
  EXPECT_EQ(partition->key(), "site");
  Found found = found_of(Vector(6, 1.0), 3);
  found.keys = {2, 0, 1, 1, 2, 0};
  EXPECT_EQ(partition->assign(found, 3, 1), (std::vector<Client>{2, 0, 1, 1, 2, 0}));
  EXPECT_EQ(partition->assign(found, 2, 1), (std::vector<Client>{1, 0, 0, 0, 1, 0}));
  EXPECT_ERROR(UsageError, "'site' has 3 values for 4 clients", partition->assign(found, 4, 1));
}

class PartitionFile : public testing::Test {
 protected:
  [[nodiscard]] std::string error(const std::string& text) const {
    const std::string path = folder_.write("p.csv", text);
    return message_of<DataError>(
        [&] { return partition_table().make("file:" + path)->assign(found_of(some_labels(3)), 2, 1); });
  }
  TemporaryFolder folder_;
};

TEST_F(PartitionFile, GivesBackWhatItSays) {
  const std::string path = folder_.write("p.csv", "record,client\n0,1\n1,0\n2,1\n");
  EXPECT_EQ(partition_table().make("file:" + path)->assign(found_of(some_labels(3)), 2, 1),
            (std::vector<Client>{1, 0, 1}));
}

TEST_F(PartitionFile, FaultsAreNamed) {
  EXPECT_THAT(error(""), HasSubstr("the first line is not 'record,client'"));
  EXPECT_THAT(error("0,1\n"), HasSubstr("the first line is not 'record,client'"));
  EXPECT_THAT(error("record,client\n0,1\n1,0\n"), HasSubstr("deals out 2 records: the source has 3."));
  EXPECT_THAT(error("record,client\n0,1\n1,2\n2,0\n"), HasSubstr("row 3: client 2: there are 2 clients"));
  EXPECT_THAT(error("record,client\n0,1\n1,-1\n2,0\n"), HasSubstr("client -1"));
  EXPECT_THAT(error("record,client\n1,1\n0,0\n2,0\n"), HasSubstr("row 2: record 1 where 0 is due"));
  for (const std::string line : {"0", "0,", "0;1", "0,1,2", "zero,1", "0,1e3", "99999999999999999999,0"}) {
    EXPECT_THAT(error("record,client\n" + line + "\n"), HasSubstr("is not record,client")) << line;
  }
}

TEST(PartitionTable, UnknownNamesListTheKnown) {
  EXPECT_EQ(
      message_of<UsageError>([] { return partition_table().make("sorted"); }),
      "unknown partition 'sorted': known are contiguous, round-robin, iid, shards, dirichlet, column, file. Choose "
      "one of them.");
}

}  // namespace starling::partition_test
