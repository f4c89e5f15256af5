// What is spent over blocks, passes, runs and units; and which rounds are reserved together.
#include <cmath>
#include <set>
#include <utility>

#include "core/check.hpp"
#include "ledger_samples.hpp"
#include "privacy/accounting/accounting.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/ledger/ledger.hpp"
#include "support/testing.hpp"

namespace starling::ledger_totals_test {

using ledger_samples::block_of;
using ledger_samples::run_of;
using testing_support::TemporaryFolder;
using Groups = std::vector<ChargeGroup>;

const Charge small = Charge::laplace(0.1);
const Charge large = Charge::laplace(0.4);

class LedgerTotals : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  Ledger ledger_ = Ledger::open(folder_ / "ledger");
};

TEST_F(LedgerTotals, ReleasesOfAClientAddUpAndItsRecordLosesTheLargestChargeOfEachPass) {
  ledger_.begin(run_of("run"));
  Reservation block = block_of(0, 0, 9);
  block.passes = {{1, large}, {2, small}};
  block.charges = {{large, 2}, {small, 8}};
  ledger_.reserve(block);
  ledger_.reserve(block_of(0, 10, 19, small, 2));
  ledger_.reserve(block_of(3, 0, 0, large));
  EXPECT_EQ(ledger_.book().spent(0, LossLevel::record_in_each_batch), (Groups{{large, 2}, {small, 18}}));
  EXPECT_EQ(ledger_.book().spent(0, LossLevel::record), (Groups{{large, 1}, {small, 1}}));
  EXPECT_EQ(ledger_.book().spent(3, LossLevel::record_in_each_batch), (Groups{{large, 1}}));
}

TEST_F(LedgerTotals, RunsAddUpForARecordToo) {
  for (const char* run : {"a", "b"}) {
    ledger_.begin(run_of(run));
    ledger_.reserve(block_of(0, 0, 9));
    ledger_.reserve(block_of(0, 10, 19, small, 2));
  }
  EXPECT_EQ(ledger_.book().spent(0, LossLevel::record_in_each_batch), (Groups{{small, 40}}));
  EXPECT_EQ(ledger_.book().spent(0, LossLevel::record), (Groups{{small, 4}}));
}

TEST_F(LedgerTotals, APlannedBlockIsCountedAsIfItWereReserved) {
  ledger_.begin(run_of("earlier"));
  ledger_.reserve(block_of(0, 0, 3, large));
  ledger_.begin(run_of("run"));
  ledger_.reserve(block_of(0, 0, 3));
  const Reservation same_pass = block_of(0, 4, 5);
  const Reservation next_pass = block_of(0, 4, 5, large, 2);
  EXPECT_EQ(ledger_.book().spent(0, LossLevel::record_in_each_batch, &same_pass), (Groups{{large, 4}, {small, 6}}));
  EXPECT_EQ(ledger_.book().spent(0, LossLevel::record, &same_pass), (Groups{{large, 1}, {small, 1}}));
  EXPECT_EQ(ledger_.book().spent(0, LossLevel::record, &next_pass), (Groups{{large, 2}, {small, 1}}));
  EXPECT_EQ(ledger_.book().spent(0, LossLevel::record_in_each_batch), (Groups{{large, 4}, {small, 4}}));
}

TEST_F(LedgerTotals, WhoOwnsAllRecordsPaysForEveryUnitOfABatch) {
  LedgerRun run = run_of("run");
  run.batch_units = 4;
  ledger_.begin(run);
  ledger_.reserve(block_of(0, 0, 9, Charge::laplace(0.25)));
  run = run_of("another");
  run.batch_units = 2;
  ledger_.begin(run);
  ledger_.reserve(block_of(0, 0, 0, Charge::gaussian(0.5)));
  const Reservation planned = block_of(0, 1, 2, Charge::approximate(0.1, 1e-6));
  EXPECT_EQ(ledger_.book().spent(0, LossLevel::client), (Groups{{Charge::laplace(1), 10}, {Charge::gaussian(1), 1}}));
  EXPECT_EQ(ledger_.book().spent(0, LossLevel::client, &planned),
            (Groups{{Charge::laplace(1), 10}, {Charge::gaussian(1), 1}, {Charge::unbounded(), 2}}));
}

TEST_F(LedgerTotals, OfChargesOfSeveralKindsInAPassNoneIsLeftOut) {
  ledger_.begin(run_of("run"));
  ledger_.reserve(block_of(0, 0, 0, Charge::laplace(0.1)));
  ledger_.reserve(block_of(0, 1, 1, Charge::gaussian(0.2)));
  ledger_.reserve(block_of(0, 2, 2, Charge::approximate(0.3, 1e-6)));
  ledger_.reserve(block_of(0, 3, 3, Charge::approximate(0.2, 1e-5)));
  EXPECT_EQ(ledger_.book().spent(0, LossLevel::record),
            (Groups{{Charge::laplace(0.1), 1}, {Charge::gaussian(0.2), 1}, {Charge::approximate(0.3, 1e-5), 1}}));
}

TEST_F(LedgerTotals, TheFirstReleasesOfABlockAreTheOnesThatStay) {
  ledger_.begin(run_of("run"));
  Reservation block = block_of(0, 0, 9);
  block.charges = {{large, 3}, {small, 4}, {large, 3}};
  ledger_.reserve(block);
  ledger_.end(0, 5, LedgerEnd::stopped);
  EXPECT_EQ(ledger_.book().spent(0, LossLevel::record_in_each_batch), (Groups{{large, 3}, {small, 2}}));
}

TEST_F(LedgerTotals, OfABlockWithoutOneReleaseARoundEverythingStays) {
  ledger_.begin(run_of("run"));
  Reservation block = block_of(0, 0, 9);
  block.charges = {{small, 4}};  // which rounds release is not known
  ledger_.reserve(block);
  ledger_.reserve(block_of(0, 10, 19));
  ledger_.end(0, 2, LedgerEnd::stopped);
  EXPECT_EQ(ledger_.book().spent(0, LossLevel::record_in_each_batch), (Groups{{small, 4}}));
  EXPECT_EQ(ledger_.book().spent(0, LossLevel::record), (Groups{{small, 1}}));
}

TEST_F(LedgerTotals, NothingReleasedIsNothingSpent) {
  ledger_.begin(run_of("run"));
  ledger_.reserve(block_of(0, 0, 9));
  ledger_.end(0, 0, LedgerEnd::stopped);
  EXPECT_EQ(ledger_.book().spent(0, LossLevel::record_in_each_batch), Groups());
  EXPECT_EQ(ledger_.book().spent(0, LossLevel::record), Groups());
}

/// A run of batches of 4 records with 2 components each that charges components: d of them make a record where losses
/// are in L1, √d in L2.
LedgerRun component_run(const std::string& id, double units_of_record) {
  LedgerRun run = run_of(id, "");
  run.unit = PrivacyUnit::component;
  run.batch = 4;
  run.batch_units = 4 * units_of_record;
  return run;
}

double epsilon_of(const Ledger& ledger, LossLevel level, double delta = 0) {
  return compose(ledger.book().spent(0, level), delta).epsilon;
}

// By hand: a record run with two releases at 1, a component run with three at 1 and d = 2.
TEST_F(LedgerTotals, RunsOfBothUnitsAddUpToABoundAtEveryLevel) {
  LedgerRun record = run_of("record");
  record.batch = 4;
  record.batch_units = 4;
  ledger_.begin(record);
  ledger_.reserve(block_of(0, 0, 1, Charge::laplace(1)));
  ledger_.begin(component_run("component", 2));
  ledger_.reserve(block_of(0, 0, 2, Charge::laplace(1)));
  EXPECT_EQ(epsilon_of(ledger_, LossLevel::component), 1 + 1) << "its record's charge, and its own";
  EXPECT_EQ(epsilon_of(ledger_, LossLevel::record), 1 + 2 * 1) << "two components change with their record";
  EXPECT_EQ(epsilon_of(ledger_, LossLevel::record_in_each_batch), 2 * 1 + 3 * 2);
  EXPECT_EQ(epsilon_of(ledger_, LossLevel::client), 2 * 4 + 3 * 8);
  const Reservation planned = block_of(0, 3, 3, Charge::laplace(0.5));
  EXPECT_EQ(compose(ledger_.book().spent(0, LossLevel::client, &planned), 0).epsilon, 32 + 4) << "the run at hand";
  EXPECT_TRUE(ledger_.book().spent(3, LossLevel::client).empty());
}

// By hand: components are orthogonal in L2, so that d = 4 of them are a group of 2; squares of mu add up.
TEST_F(LedgerTotals, GaussianRunsOfBothUnitsAddUpInSquares) {
  ledger_.begin(run_of("record"));
  ledger_.reserve(block_of(0, 0, 0, Charge::gaussian(1.5)));
  ledger_.begin(component_run("component", 2));
  ledger_.reserve(block_of(0, 0, 0, Charge::gaussian(1)));
  EXPECT_NEAR(*compose(ledger_.book().spent(0, LossLevel::record), 1e-5).mu, 2.5, 1e-12);
  EXPECT_NEAR(*compose(ledger_.book().spent(0, LossLevel::component), 1e-5).mu, std::sqrt(3.25), 1e-12);
  EXPECT_NEAR(*compose(ledger_.book().spent(0, LossLevel::client), 1e-5).mu, std::hypot(32 * 1.5, 8.0), 1e-9);
}

TEST_F(LedgerTotals, RunsOfSeveralMechanismsAndUnitsAreComposedTogether) {
  ledger_.begin(run_of("record"));
  ledger_.reserve(block_of(0, 0, 0, Charge::gaussian(0.5)));
  ledger_.begin(component_run("component", 3));
  ledger_.reserve(block_of(0, 0, 0, Charge::laplace(0.2)));
  EXPECT_EQ(ledger_.book().spent(0, LossLevel::record),
            (Groups{{Charge::gaussian(0.5), 1}, {*of_group(Charge::laplace(0.2), 3), 1}}));
  const double both = epsilon_of(ledger_, LossLevel::record, 1e-5);
  EXPECT_GT(both, gaussian_epsilon(0.5, 1e-5));
  EXPECT_LE(both, gaussian_epsilon(0.5, 1e-5) + 0.6 * (1 + 1e-9));
  EXPECT_TRUE(std::isinf(epsilon_of(ledger_, LossLevel::record))) << "no finite bound at delta = 0";
}

// The dissertation's mechanism has a figure for a component, and none for groups of them.
TEST_F(LedgerTotals, WhereNoFiniteBoundCanBeStatedThereIsNone) {
  ledger_.begin(run_of("record"));
  ledger_.reserve(block_of(0, 0, 0, Charge::laplace(0.5)));
  ledger_.begin(component_run("component", 2));
  ledger_.reserve(block_of(0, 0, 0, Charge::approximate(0.1, 1e-6)));
  EXPECT_NEAR(epsilon_of(ledger_, LossLevel::component, 1e-6), 0.6, 1e-9);
  for (const LossLevel level : {LossLevel::record, LossLevel::record_in_each_batch, LossLevel::client}) {
    EXPECT_TRUE(std::isinf(epsilon_of(ledger_, level, 0.5)));
  }
}

TEST(BlockSizes, DoubleUpToTheLargest) {
  const BlockSizes sizes = BlockSizes::doubling(16);
  std::vector<Round> found;
  for (Round reserved = 0; found.size() < 7; reserved += found.back()) found.push_back(sizes.after(reserved));
  EXPECT_EQ(found, (std::vector<Round>{1, 2, 4, 8, 16, 16, 16}));
  EXPECT_EQ(BlockSizes::doubling().after(2047), 2048);
  EXPECT_EQ(BlockSizes::doubling().after(4094), 1);
  EXPECT_EQ(BlockSizes::doubling().after(4096 * Round{250'000} - 1), 4096);
  EXPECT_EQ(sizes.after(15, BlockSizes::Pace::quick), 16);
  EXPECT_EQ(sizes.after(31, BlockSizes::Pace::quick), 32);
  EXPECT_EQ(sizes.after((1 << 21) - 1, BlockSizes::Pace::quick), 1 << 20);
}

/// Where blocks end that follow one another from `reserved` on, up to `last`.
std::set<Round> ends(const BlockSizes& sizes, Round reserved, Round last, BlockSizes::Pace pace) {
  std::set<Round> found;
  for (Round end = reserved + sizes.after(reserved, pace); end <= last; end += sizes.after(end, pace))
    found.insert(end);
  return found;
}

// Wherever a run was taken up: clients meet at the next round where blocks end, and no block is longer than it was.
TEST(BlockSizes, EndAtTheSameRoundsWhereverTheyBegin) {
  using Pace = BlockSizes::Pace;
  for (const auto& [sizes, most] : {std::pair{BlockSizes::doubling(16), Round{16}},
                                    {BlockSizes::doubling(1), 1},
                                    {BlockSizes::fixed(7), 7},
                                    {BlockSizes::fixed(1), 1}}) {
    for (const Pace pace : {Pace::ordinary, Pace::quick}) {
      const std::set<Round> undisturbed = ends(sizes, 0, 300, pace);
      for (Round reserved = 0; reserved < 200; ++reserved) {
        const Round size = sizes.after(reserved, pace);
        ASSERT_GE(size, 1) << reserved;
        ASSERT_LE(size, pace == Pace::quick ? 300 : most) << reserved;
        const std::set<Round> expected(undisturbed.upper_bound(reserved), undisturbed.end());
        ASSERT_EQ(ends(sizes, reserved, 300, pace), expected) << reserved;
      }
    }
  }
  for (const Pace pace : {Pace::ordinary, Pace::quick}) {
    for (Round reserved = 0; reserved < 20000; ++reserved) {
      ASSERT_LE(BlockSizes::doubling().after(reserved, pace), reserved + 1) << "a crash costs no more";
    }
  }
  // A size that is no power of two: they meet too.
  const BlockSizes hundred = BlockSizes::doubling(100);
  for (const Round reserved : {0, 62, 63, 100, 126, 127, 150}) {
    EXPECT_EQ(ends(hundred, reserved, 1000, Pace::ordinary).count(199), 1U) << reserved;
  }
}

TEST(BlockSizes, MayBeFixed) {
  EXPECT_EQ(BlockSizes::fixed(7).after(0), 7);
  EXPECT_EQ(BlockSizes::fixed(7).after(1001), 7);
  EXPECT_EQ(BlockSizes::fixed(7).after(1000), 1);
  EXPECT_THROW(static_cast<void>(BlockSizes::fixed(0)), UsageError);
  EXPECT_THROW(static_cast<void>(BlockSizes::doubling(-1)), UsageError);
}

}  // namespace starling::ledger_totals_test
