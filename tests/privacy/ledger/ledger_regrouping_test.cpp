#include "privacy/ledger/ledger_regrouping.hpp"

#include "files/durable_file.hpp"
#include "ledger_samples.hpp"
#include "privacy/ledger/ledger.hpp"
#include "privacy/ledger/ledger_reading.hpp"
#include "support/testing.hpp"

namespace starling::ledger_regrouping_test {

using ledger_samples::block_of;
using ledger_samples::run_of;
using ::testing::HasSubstr;
using namespace testing_support;

/// The ledger of clients 4r … 4r + 3, whose client 4r is ahead of the others.
void write_ledger(const std::string& path, Client r, int resumed) {
  Ledger ledger = Ledger::open(path);
  LedgerRun run = run_of("run");
  run.clients = {{4 * r, 4 * r + 3}};
  ledger.begin(run);
  ledger.reserve(block_of({4 * r, 4 * r + 3}, 0, 3));
  ledger.reserve(block_of(4 * r, 4, 4 + r));
  for (int i = 0; i < resumed; ++i) ledger.resume("run", "abc123");
}

std::vector<ChargeGroup> spent(const std::string& path, Client u) {
  const LedgerReading reading = read_ledger(path);
  EXPECT_FALSE(reading.damage);
  return reading.book.spent(u, LossLevel::client);
}

TEST(LedgerRegrouping, KeepsWhatEachClientHasSpent) {
  const TemporaryFolder folder;
  const std::vector<std::string> before{folder / "0", folder / "1"};
  write_ledger(before[0], 0, 1);
  write_ledger(before[1], 1, 2);  // the last start ended before all ranks had taken the run up
  const std::vector<ClientRange> after{{0, 7}, {0, 1}, {2, 5}};
  for (std::size_t i = 0; i < after.size(); ++i) {
    std::vector<std::string> from = before;
    if (after[i].through < 4) from.pop_back();
    const std::string path = folder / ("new" + std::to_string(i));
    regroup_ledgers(from, after[i], path);
    for (Client u = after[i].first; u <= after[i].through; ++u) {
      EXPECT_EQ(spent(path, u), spent(before[static_cast<std::size_t>(u / 4)], u)) << u;
    }
    const LedgerBook book = read_ledger(path).book;
    ASSERT_EQ(book.entries().size(), 1U);
    EXPECT_EQ(book.entries()[0].taken_up, after[i].through < 4 ? 1 : 2);
    EXPECT_EQ(book.entries()[0].find(after[i].first - 1), nullptr);
    EXPECT_EQ(book.entries()[0].find(after[i].through + 1), nullptr);
    Ledger ledger = Ledger::open(path);
    ledger.resume("run", "abc123");
    ledger.reserve(block_of(after[i].through, ledger.reserved_through(after[i].through), 40));
  }
}

TEST(LedgerRegrouping, MakesNoLedgerOfClientsThatNoneHas) {
  const TemporaryFolder folder;
  write_ledger(folder / "0", 0, 1);
  regroup_ledgers({folder / "0"}, {4, 6}, folder / "lost");
  EXPECT_FALSE(read_whole_file(folder / "lost"));
  regroup_ledgers({folder / "0"}, {3, 6}, folder / "some");
  EXPECT_EQ(spent(folder / "some", 3), spent(folder / "0", 3));
  EXPECT_EQ(read_ledger(folder / "some").book.entries()[0].find(4), nullptr);
}

// Clients 8 and 9 join, with and without others on their rank.
TEST(LedgerRegrouping, BeginsEmptyAccountsOfClientsThatJoin) {
  const TemporaryFolder folder;
  write_ledger(folder / "0", 0, 1);
  write_ledger(folder / "1", 1, 1);
  const JoiningClients joining{"run", {8, 9}};
  regroup_ledgers({folder / "0", folder / "1"}, {3, 9}, folder / "some", joining);
  regroup_ledgers({folder / "1"}, {9, 9}, folder / "alone", joining);
  regroup_ledgers({folder / "1"}, {9, 9}, folder / "other", JoiningClients{"another", {8, 9}});
  EXPECT_FALSE(read_whole_file(folder / "other"));
  EXPECT_EQ(spent(folder / "some", 5), spent(folder / "1", 5));
  EXPECT_TRUE(spent(folder / "some", 8).empty());
  for (const char* name : {"some", "alone"}) {
    Ledger ledger = Ledger::open(folder / name);
    ledger.resume("run", "abc123");
    EXPECT_EQ(ledger.reserved_through(9), 0) << name;
    ledger.reserve(block_of(9, 0, 6));
    EXPECT_EQ(ledger.reserved_through(9), 7) << name;
    EXPECT_FALSE(read_ledger(folder / name).damage);
  }
  EXPECT_EQ(read_ledger(folder / "alone").book.entries()[0].find(8), nullptr);
}

TEST(LedgerRegrouping, GivesTheSameBackWhereRanksAreAsBefore) {
  const TemporaryFolder folder;
  const std::vector<std::string> before{folder / "0", folder / "1"};
  write_ledger(before[0], 0, 0);
  write_ledger(before[1], 1, 0);
  regroup_ledgers(before, {0, 7}, folder / "all");
  regroup_ledgers({folder / "all"}, {0, 3}, folder / "again");  // those of the ledger whose times rows of all have
  const LedgerReading one = read_ledger(before[0]);
  const LedgerReading other = read_ledger(folder / "again");
  EXPECT_EQ(one.hashes, other.hashes) << "rows have the same neighbours again";
}

TEST(LedgerRegrouping, RefusesDamageAndOtherRuns) {
  const TemporaryFolder folder;
  write_ledger(folder / "0", 0, 0);
  Ledger::open(folder / "1").begin(run_of("another"));
  const auto complaint = [&](const std::string& second) {
    return message_of<DataError>([&] { regroup_ledgers({folder / "0", second}, {0, 7}, folder / "new"); });
  };
  EXPECT_THAT(complaint(folder / "1"), HasSubstr("has other runs than"));
  LedgerRun larger = run_of("run");
  larger.clients = {{4, 7}};
  larger.batch_units *= 2;
  Ledger::open(folder / "2").begin(larger);
  EXPECT_THAT(complaint(folder / "2"), HasSubstr("they are not of one run"));
  std::string text = *read_whole_file(folder / "1");
  text[text.find("laplace")] = 'x';
  folder.write("1", text);
  EXPECT_THAT(complaint(folder / "1"), HasSubstr("line 2: the row is not what its hash says"));
  EXPECT_FALSE(std::filesystem::exists(folder / "new"));
}

}  // namespace starling::ledger_regrouping_test
