/// Accounts with their ledgers: what is reserved before a release, what a budget allows, and what a crash costs.
#include "privacy/ledger/accounts.hpp"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

#include "privacy/ledger/ledger.hpp"
#include "privacy/ledger/ledger_reading.hpp"
#include "privacy/mechanism.hpp"
#include "support/testing.hpp"

namespace starling::accounts_test {

using namespace testing_support;

constexpr const char* digest = "00ff";

std::unique_ptr<Mechanism> laplace(double least, double most, std::size_t batch = 1) {
  const ReleaseSettings settings{.price = {least, most}, .batch = batch, .dimension = 3, .run_id = "run-1"};
  return mechanism_table().make("laplace", settings);
}

LedgerRun run_of(const Mechanism& mechanism, std::vector<ClientRange> clients, const std::string& id = "run-1") {
  return {.id = id,
          .mechanism = "laplace",
          .batch = static_cast<std::int64_t>(mechanism.settings().batch),
          .batch_units = units_of_batch(mechanism),
          .determined_by = digest,
          .clients = std::move(clients)};
}

Prices fixed(double price) {
  return Prices::parse(std::to_string(price), "price", 1000, 8, 0, 100);
}

Budget budget(double epsilon, bool of_client = true) {
  return {epsilon, of_client, std::nullopt};
}

/// So many releases at 0.5.
std::vector<ChargeGroup> at_half(std::int64_t count) {
  return {{Charge::laplace(0.5), count}};
}

/// Rounds, of so many, in which client k could release.
Round paid(Accounts& accounts, std::size_t k, Round of = 100) {
  Round count = 0;
  for (Round t = 0; t < of; ++t) count += accounts.pay(k, t).has_value() ? 1 : 0;
  return count;
}

TEST(Accounts, PayTheScheduledPriceWithoutALedger) {
  const auto mechanism = laplace(0.25, 1);
  Accounts accounts(*mechanism, Prices::parse("schedule:from=1,to=0.25", "price", 4, 2, 0, 1), 4, 0, {{}, {}});
  EXPECT_EQ(accounts.pay(1, 0), 1);
  EXPECT_EQ(accounts.pay(1, 1), 0.75);
  EXPECT_EQ(accounts.pay(0, 3), 0.25);
  EXPECT_EQ(accounts.spending(1).releases(), 2);
  EXPECT_EQ(accounts.losses(1, std::nullopt).record.epsilon, 1);
  EXPECT_EQ(accounts.losses(1, std::nullopt).one_per_batch.epsilon, 1.75);
}

// A fusion centre may have nothing to release: it pays nothing, reserves nothing, and is no proof that anybody can.
// Clients 0 and 1 pay the same and differ in their records alone; client 2 has most records at a lower price.
TEST(Accounts, CountWhatWasReleasedBeforeTheRounds) {
  const auto mechanism = laplace(0.5, 0.5, 2);
  Accounts accounts(*mechanism, fixed(0.5), 10, 0, std::vector<ServedRounds>(3));
  accounts.count_before({SingleRelease{Charge::laplace(0.25), 2, 8}, SingleRelease{Charge::laplace(0.25), 4, 16},
                         SingleRelease{Charge::laplace(0.125), 5, 30}});
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(paid(accounts, k, 10), 10);
  EXPECT_EQ(accounts.losses(0, 0.0).record.epsilon, 0.75);
  EXPECT_EQ(accounts.losses(0, 0.0).client.epsilon, 10 * 2 * 0.5 + 8 * 0.25);
  const ClientLosses worst = accounts.worst_losses(0.0);
  EXPECT_EQ(worst.record.epsilon, 0.75);
  EXPECT_EQ(worst.one_per_batch.epsilon, 10 * 0.5 + 4 * 0.25);
  EXPECT_EQ(worst.client.epsilon, 10 * 2 * 0.5 + 16 * 0.25);
  EXPECT_NE(message_of<UsageError>([&] { accounts.count_before({}); }), "");
}

/// A ledger in a folder of its own, for releases at 0.5.
class AccountsInALedger : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::unique_ptr<Mechanism> mechanism_ = laplace(0.5, 0.5);
  Ledger ledger_ = Ledger::open(folder_ / "ledger");
};

// A unit of three uses has paid for as many releases as there were, and for three at most. There are four rounds for
// the other, which cannot have more uses than that.
TEST_F(AccountsInALedger, PayForEachUseOfAUnit) {
  ledger_.begin(run_of(*mechanism_, {0, 1}));
  ServedRounds thrice;
  thrice.uses = 3;
  ServedRounds often;
  often.uses = 100;
  Accounts accounts(*mechanism_, fixed(0.5), 4, 0, {thrice, often});
  accounts.keep_in({&ledger_, &ledger_}, BlockSizes::fixed(1));
  for (Round t = 0; t < 4; ++t) {
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_EQ(accounts.pay(k, t), 0.5);
      const std::int64_t uses = std::min<std::int64_t>(t + 1, k == 0 ? 3 : 4);
      const auto spent = ledger_.book().spent(static_cast<Client>(k), LossLevel::record);
      EXPECT_EQ(spent, at_half(uses)) << k << ", " << t;
      EXPECT_EQ(accounts.losses(k, 0.0).participations, uses);
      EXPECT_EQ(accounts.losses(k, 0.0).record.epsilon, 0.5 * static_cast<double>(uses));
    }
  }
  EXPECT_EQ(accounts.worst_losses(0.0).record.epsilon, 2);
}

TEST_F(AccountsInALedger, OfWhomThereIsNothingToReleaseAreIdle) {
  const ServedRounds nothing{std::nullopt, std::nullopt, 0};
  ledger_.begin(run_of(*mechanism_, {0, 1}));
  {
    Accounts accounts(*mechanism_, fixed(0.5), 10, 0, {nothing, {}});
    EXPECT_FALSE(accounts.idle());
    accounts.keep_in({&ledger_, &ledger_}, BlockSizes::fixed(4));
    accounts.limit({budget(1), budget(1)});
    EXPECT_TRUE(accounts.open());
    EXPECT_EQ(ledger_.reserved_through(0), 0);
    EXPECT_EQ(paid(accounts, 1, 10), 2);
    EXPECT_EQ(accounts.stopped(), 1);
    EXPECT_THROW(static_cast<void>(accounts.pay(0, 0)), FailureError);
    accounts.close(LedgerEnd::finished);
    const ClientLosses losses = accounts.losses(0, std::nullopt);
    EXPECT_EQ(losses.releases, 0);
    EXPECT_EQ(losses.record.epsilon, 0);
    EXPECT_EQ(losses.client.epsilon, 0);
    EXPECT_EQ(accounts.losses(1, std::nullopt).one_per_batch.epsilon, 1);
    EXPECT_EQ(accounts.worst_losses(std::nullopt).text(), accounts.losses(1, std::nullopt).text());
  }
  EXPECT_TRUE(ledger_.book().spent(0, LossLevel::client).empty());
  // Who has spent all cannot release, and the idle client makes no difference.
  Ledger poor = Ledger::open(folder_ / "poor");
  poor.begin(run_of(*mechanism_, {0, 1}));
  Accounts accounts(*mechanism_, fixed(0.5), 10, 0, {nothing, {}});
  accounts.keep_in({&poor, &poor}, BlockSizes::fixed(4));
  accounts.limit({budget(100), budget(0.25)});
  EXPECT_FALSE(accounts.open());
  EXPECT_TRUE(Accounts(*mechanism_, fixed(0.5), 10, 0, {nothing, nothing}).idle());
  EXPECT_TRUE(Accounts(*mechanism_, fixed(0.5), 10, 0, {}).idle());
}

// What is paid for stands in the file before pay() returns.
TEST_F(AccountsInALedger, AreAheadOfTheReleases) {
  ledger_.begin(run_of(*mechanism_, {4, 5}));
  Accounts accounts(*mechanism_, fixed(0.5), 1000, 4, {{}, {}});
  accounts.keep_in({&ledger_, &ledger_}, BlockSizes::doubling());
  for (Round t = 0; t < 100; ++t) {
    for (const std::size_t k : {0U, 1U}) {
      ASSERT_TRUE(accounts.pay(k, t).has_value());
      const LedgerReading reading = read_ledger(folder_ / "ledger");
      ASSERT_GT(reading.book.entries()[0].account(4 + static_cast<Client>(k)).charged, t);
    }
  }
  accounts.close(LedgerEnd::stopped);
  const LedgerReading reading = read_ledger(folder_ / "ledger");
  EXPECT_EQ(reading.book.spent(4, LossLevel::record_in_each_batch), at_half(100));
}

// A client alone on its rank that is absent for longer than the blocks that it has reserved.
TEST_F(AccountsInALedger, FollowClientsThatSitRoundsOut) {
  ledger_.begin(run_of(*mechanism_, {4}));
  Accounts accounts(*mechanism_, fixed(0.5), 1000, 4, {{}});
  accounts.keep_in({&ledger_}, BlockSizes::doubling());
  for (const Round t : {0, 3, 40, 41, 700, 999}) {
    EXPECT_EQ(accounts.pay(0, t), 0.5) << t;
    EXPECT_GT(ledger_.reserved_through(4), t);
  }
  EXPECT_EQ(accounts.spending(0).releases(), 1000) << "as the ledger has it";
  accounts.close(LedgerEnd::finished);
  EXPECT_EQ(accounts.losses(0, 0.0).one_per_batch.epsilon, 500);
  EXPECT_EQ(ledger_.book().spent(4, LossLevel::record_in_each_batch), at_half(1000));
}

TEST_F(AccountsInALedger, ReserveNothingBeyondTheStream) {
  ledger_.begin(run_of(*mechanism_, {0}));
  Accounts accounts(*mechanism_, fixed(0.5), 1000, 0, {{10, 5, 10}});
  accounts.keep_in({&ledger_}, BlockSizes::fixed(64));
  EXPECT_TRUE(accounts.pay(0, 0).has_value());
  EXPECT_EQ(ledger_.reserved_through(0), 10);
  EXPECT_THROW(static_cast<void>(accounts.pay(0, 10)), FailureError);
  // Two passes of five rounds: the worst record pays for two releases.
  EXPECT_EQ(ledger_.book().spent(0, LossLevel::record), at_half(2));
}

TEST(Accounts, StopAtTheBudgetToTheRound) {
  for (const auto& [limit, of_client, expected] : {std::tuple{10.0, true, 5}, {9.99, true, 4}, {1.0, false, 2}}) {
    const TemporaryFolder folder;
    const auto mechanism = laplace(0.5, 0.5, 4);
    Ledger ledger = Ledger::open(folder / "ledger");
    ledger.begin(run_of(*mechanism, {0}));
    // One round to a pass, so that each release is one of the same records.
    Accounts accounts(*mechanism, fixed(0.5), 100, 0, {{4, 1, 100}});
    accounts.keep_in({&ledger}, BlockSizes::doubling());
    accounts.limit({budget(limit, of_client)});
    ASSERT_TRUE(accounts.open());
    EXPECT_EQ(paid(accounts, 0), expected) << limit;
    EXPECT_EQ(accounts.stopped(), 1);
    accounts.close(LedgerEnd::finished);
    EXPECT_EQ(ledger.book().entries()[0].account(0).end, LedgerEnd::budget);
  }
}

TEST(Accounts, ReleaseZerosUntilTheLastClientEnds) {
  const TemporaryFolder folder;
  const auto mechanism = laplace(0.5, 0.5);
  Ledger ledger = Ledger::open(folder / "ledger");
  ledger.begin(run_of(*mechanism, {{0, 1}, 2}));
  // One ends with its stream, one with its budget, one with the run: 20 rounds.
  Accounts accounts(*mechanism, fixed(0.5), 20, 0, {{4, 1, 7}, {}, {4, 1, 16}});
  accounts.keep_in({&ledger}, BlockSizes::doubling());
  accounts.limit({budget(100), budget(5), budget(6)});
  EXPECT_FALSE(accounts.price_of_zeros(0, 7)) << "nobody shares noise";
  ASSERT_TRUE(accounts.open());
  EXPECT_EQ(accounts.will_end_after(), 12);
  accounts.release_zeros_until(accounts.will_end_after());
  EXPECT_EQ(paid(accounts, 0, 7), 7);
  EXPECT_EQ(accounts.price_of_zeros(0, 7), 0.5);
  EXPECT_EQ(paid(accounts, 1, 20), 10);
  EXPECT_EQ(accounts.price_of_zeros(1, 11), 0.5);
  EXPECT_FALSE(accounts.price_of_zeros(1, 12));
  EXPECT_EQ(paid(accounts, 2, 16), 12);
  EXPECT_EQ(accounts.will_end_after(), 12) << "likewise for a run that goes on";
  EXPECT_EQ(accounts.losses(1, 0.0).client.epsilon, 5) << "zeros cost nothing";
}

TEST(Accounts, CountWhatEarlierRunsSpent) {
  const TemporaryFolder folder;
  const auto mechanism = laplace(0.5, 0.5);
  for (const auto& [id, expected] : {std::pair{"run-1", 3}, {"run-2", 3}, {"run-3", 2}, {"run-4", 0}}) {
    Ledger ledger = Ledger::open(folder / "ledger");
    ledger.begin(run_of(*mechanism, {0}, id));
    Accounts accounts(*mechanism, fixed(0.5), 3, 0, {{}});
    accounts.keep_in({&ledger}, BlockSizes::doubling());
    accounts.limit({budget(4)});
    EXPECT_EQ(accounts.open(), expected > 0) << id;
    EXPECT_EQ(paid(accounts, 0, 3), expected) << id;
    accounts.close(LedgerEnd::finished);
  }
}

// An earlier run of unit component, d = 2, charged a record 2 for each of its two releases at 1, 4 in all for somebody
// with a record in both: of a budget of 6 that leaves four releases at 0.5. A record that entered both passes of the
// earlier run has paid 4 as well.
TEST(Accounts, CountWhatARunOfAnotherUnitSpent) {
  for (const auto& [of_client, mechanism_spent, expected] : {std::tuple{true, Charge::laplace(1), 4},
                                                             {false, Charge::laplace(1), 4},
                                                             {true, Charge::approximate(0.1, 1e-9), 0},
                                                             {false, Charge::approximate(0.1, 1e-9), 0}}) {
    const TemporaryFolder folder;
    const auto mechanism = laplace(0.5, 0.5);
    Ledger ledger = Ledger::open(folder / "ledger");
    LedgerRun earlier = run_of(*mechanism, {0}, "earlier");
    earlier.unit = PrivacyUnit::component;
    earlier.batch_units = 2;
    ledger.begin(earlier);
    for (const Round t : {0, 1}) {
      ledger.reserve({{0}, t, t, "as they come", {{t + 1, mechanism_spent}}, {{mechanism_spent, 1}}, "keyed"});
    }
    ledger.end(0, 2, LedgerEnd::finished);
    ledger.begin(run_of(*mechanism, {0}));
    // One round to a pass, so that each release is one of the same records.
    Accounts accounts(*mechanism, fixed(0.5), 100, 0, {{1, 1, 100}});
    accounts.keep_in({&ledger}, BlockSizes::fixed(7));
    accounts.limit({budget(6, of_client)});
    EXPECT_EQ(accounts.open(), expected > 0);
    EXPECT_EQ(paid(accounts, 0), expected) << of_client;
  }
}

TEST(Accounts, HaveABudgetForEachClient) {
  const TemporaryFolder folder;
  const auto mechanism = laplace(0.5, 0.5);
  Ledger first = Ledger::open(folder / "a");
  Ledger second = Ledger::open(folder / "b");
  first.begin(run_of(*mechanism, {0}));
  second.begin(run_of(*mechanism, {1}));
  Accounts accounts(*mechanism, fixed(0.5), 100, 0, {{}, {}});
  accounts.keep_in({&first, &second}, BlockSizes::fixed(7));
  accounts.limit({budget(0.25), budget(10)});
  EXPECT_TRUE(accounts.open());
  EXPECT_EQ(paid(accounts, 0), 0);
  EXPECT_EQ(paid(accounts, 1), 20);
  EXPECT_EQ(accounts.stopped(), 2);
}

TEST(Accounts, NeedALedgerForABudget) {
  const auto mechanism = laplace(0.5, 0.5);
  Accounts accounts(*mechanism, fixed(0.5), 100, 0, {{}});
  EXPECT_THROW(accounts.limit({budget(1)}), UsageError);
}

// Records from a pipe do not come again: a later process must not release a round that an earlier one may have.
TEST(Accounts, LeaveOutWhatOthersMayHaveReleased) {
  const TemporaryFolder folder;
  const auto mechanism = laplace(0.5, 0.5);
  const auto pay_both = [](Accounts& accounts, Round from, Round end) {
    for (Round t = from; t < end; ++t) {
      for (const std::size_t k : {0, 1}) EXPECT_EQ(accounts.pay(k, t), 0.5);
    }
  };
  Snapshot after_three;
  {
    Ledger ledger = Ledger::open(folder / "ledger");
    LedgerRun run = run_of(*mechanism, {0, 1});
    run.determined_by = "";
    ledger.begin(run);
    Accounts accounts(*mechanism, fixed(0.5), 100, 0, {{}, {}});
    accounts.keep_in({&ledger, &ledger}, BlockSizes::doubling());
    pay_both(accounts, 0, 3);
    accounts.persist(after_three);
    pay_both(accounts, 3, 9);  // 15 are reserved, in the first feed
  }
  for (const int life : {1, 2}) {
    Ledger ledger = Ledger::open(folder / "ledger");
    ledger.go_on("run-1");
    Accounts accounts(*mechanism, fixed(0.5), 100, 0, {{}, {}});
    accounts.keep_in({&ledger, &ledger}, BlockSizes::fixed(4));
    Snapshot before(after_three.content());
    accounts.persist(before);
    const Round end = life == 1 ? 20 : 24;
    EXPECT_EQ(accounts.reserved_through(), life == 1 ? 15 : 24);
    EXPECT_EQ(accounts.leave_out_releases(end), life == 1 ? 12 : 16) << "of those that are charged, all but three";
    EXPECT_EQ(ledger.reserved_through(0), end);
    EXPECT_EQ(ledger.book().spent(1, LossLevel::record_in_each_batch), at_half(life == 1 ? 15 : 19))
        << "what is left out costs nothing";
    EXPECT_EQ(accounts.spending(0).releases(), life == 1 ? 15 : 19);
    pay_both(accounts, end, end + 1);  // another four are reserved, in another feed
    EXPECT_EQ(accounts.spending(0).dearest(1).total(), life + 1) << "a record may have come in each";
    EXPECT_EQ(ledger.book().spent(0, LossLevel::record), at_half(life + 1));
  }
  EXPECT_FALSE(read_ledger(folder / "ledger").damage);
}

// A run goes on without a client, whose ledger stays as it was.
TEST_F(AccountsInALedger, LeaveLostClientsAlone) {
  Snapshot after_two;
  ledger_.begin(run_of(*mechanism_, {{0, 1}}));
  {
    Accounts accounts(*mechanism_, fixed(0.5), 100, 0, {{}, {}});
    accounts.keep_in({&ledger_}, BlockSizes::fixed(4));
    for (Round t = 0; t < 6; ++t) {
      EXPECT_EQ(accounts.pay(0, t), 0.5);
      EXPECT_EQ(accounts.pay(1, t), 0.5);
      if (t == 1) accounts.persist(after_two);
    }
  }
  ledger_.resume("run-1", digest);
  ServedRounds lost;
  lost.lost = true;
  Accounts accounts(*mechanism_, fixed(0.5), 100, 0, {{}, lost});
  accounts.keep_in({&ledger_}, BlockSizes::fixed(4));
  Snapshot before(after_two.content());
  accounts.persist(before);
  EXPECT_EQ(accounts.reserved_through(), 8);
  EXPECT_EQ(accounts.leave_out_releases(10, true), 6) << "8 are reserved, and 2 were paid in this state";
  EXPECT_EQ(accounts.pay(0, 10), 0.5);
  EXPECT_EQ(accounts.spending(0).dearest(1).total(), 1) << "the records are the same";
  EXPECT_EQ(accounts.spending(1).releases(), 2);
  accounts.close(LedgerEnd::finished);
  EXPECT_EQ(ledger_.reserved_through(0), 11);
  EXPECT_EQ(ledger_.reserved_through(1), 8) << "charged for good";
  EXPECT_FALSE(ledger_.book().at_hand()->account(1).end);
}

TEST_F(AccountsInALedger, NeedNoLedgerOfLostClients) {
  ledger_.begin(run_of(*mechanism_, {0}));
  ServedRounds lost;
  lost.lost = true;
  Accounts accounts(*mechanism_, fixed(0.5), 100, 0, {{}, lost});
  accounts.keep_in({&ledger_}, BlockSizes::fixed(4));
  EXPECT_TRUE(accounts.open());
  EXPECT_EQ(accounts.pay(0, 0), 0.5);
  EXPECT_EQ(accounts.leave_out_releases(6), 3);
  accounts.close(LedgerEnd::stopped);
  EXPECT_EQ(ledger_.book().at_hand()->find(1), nullptr);
}

// A client joins after six rounds, with two passes of four rounds. A release of hers costs what it costs others.
TEST_F(AccountsInALedger, BeginLaterForClientsThatJoin) {
  ledger_.begin(run_of(*mechanism_, {{0, 1}}));
  const ServedRounds late{.of_pass = 4, .of_all = 14, .begin = 6};
  Accounts accounts(*mechanism_, fixed(0.5), 100, 0, {{}, late});
  accounts.keep_in({&ledger_}, BlockSizes::fixed(3));
  accounts.skip_to_begin();
  EXPECT_EQ(ledger_.reserved_through(1), 6);
  EXPECT_TRUE(ledger_.book().spent(1, LossLevel::client).empty());
  EXPECT_EQ(accounts.leave_out_releases(7), 0) << "a round of others that may have been released";
  for (Round t = 7; t < 14; ++t) EXPECT_EQ(accounts.pay(1, t), 0.5);
  EXPECT_EQ(accounts.spending(1).releases(), 7);
  EXPECT_EQ(accounts.spending(1).dearest(1).total(), 2);
  EXPECT_EQ(ledger_.book().spent(1, LossLevel::record), at_half(2));
  accounts.close(LedgerEnd::finished);
  EXPECT_EQ(accounts.spending(1).releases(), 7) << "nothing is paid for rounds before";
  EXPECT_FALSE(read_ledger(folder_ / "ledger").damage);
}

// A crash between the ledger's row and the message.

constexpr Round rounds = 40;

/// A client that is made of the production parts: account, ledger, mechanism; `send` is its message.
void play(const std::string& path, std::int64_t change, const std::function<void(Round, const Vector&)>& send) {
  const auto mechanism = laplace(0.5, 0.5);
  Ledger ledger = Ledger::open(path);
  if (ledger.unfinished(digest)) {
    ledger.resume("run-1", digest);
  } else {
    ledger.begin(run_of(*mechanism, {0}));
  }
  Accounts accounts(*mechanism, fixed(0.5), rounds, 0, {{}});
  accounts.keep_in({&ledger}, BlockSizes::doubling());
  const NoiseKey key = NoiseKey::from_seed(7, 0);
  Released<Vector> noisy(declare_public(Vector(3)));
  for (Round t = 0; t < rounds; ++t) {
    const std::optional<double> price = accounts.pay(0, t);
    const double value = 0.001 * static_cast<double>(t) + (t == change ? 1e-9 : 0);
    mechanism->release({ReleasePath::by_itself, 0, t, 0}, price.value(), key, Secret<Vector>(Vector{value, 0.1, -0.1}),
                       noisy);
    send(t, noisy.value());
  }
  accounts.close(LedgerEnd::finished);
}

std::vector<Vector> messages(const std::string& path, std::int64_t change = -1) {
  std::vector<Vector> all;
  play(path, change, [&](Round, const Vector& noisy) { all.push_back(noisy); });
  return all;
}

/// Plays in a child that kills itself when it has paid for, and not yet sent, round `last`; what it sent before.
std::vector<Vector> killed_after(const std::string& path, Round last) {
  int pipe_ends[2];
  EXPECT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(pipe_ends[0]);
    play(path, -1, [&](Round t, const Vector& noisy) {
      if (t == last) raise(SIGKILL);
      if (write(pipe_ends[1], noisy.data(), 3 * sizeof(double)) < 0) _exit(1);
    });
    _exit(1);
  }
  close(pipe_ends[1]);
  std::vector<Vector> sent;
  for (Vector one(3); read(pipe_ends[0], one.data(), 3 * sizeof(double)) == 3 * sizeof(double);) sent.push_back(one);
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  return sent;
}

TEST(Replay, GivesTheSameBytesAndCostsNothingMore) {
  const TemporaryFolder folder;
  const std::vector<Vector> whole = messages(folder / "whole");
  for (const Round last : {0, 1, 5, 31, 32}) {
    const std::string path = folder / ("killed-" + std::to_string(last));
    const std::vector<Vector> before = killed_after(path, last);
    ASSERT_EQ(before.size(), static_cast<std::size_t>(last));
    EXPECT_TRUE(std::equal(before.begin(), before.end(), whole.begin()));
    EXPECT_EQ(messages(path), whole);
    const LedgerReading reading = read_ledger(path);
    EXPECT_FALSE(reading.damage.has_value());
    EXPECT_EQ(reading.book.entries().size(), 1U);
    EXPECT_EQ(reading.book.spent(0, LossLevel::record_in_each_batch), at_half(rounds));
  }
}

TEST(Replay, OfAnotherRecordGivesUnrelatedNoise) {
  const TemporaryFolder folder;
  const std::vector<Vector> one = messages(folder / "one");
  const std::vector<Vector> other = messages(folder / "other", 3);
  for (std::size_t t = 0; t < one.size(); ++t) {
    if (t != 3) {
      EXPECT_EQ(one[t], other[t]);
      continue;
    }
    // Noise has a scale of 4: had it been the same, the difference would be 1e-9.
    for (std::size_t j = 0; j < 3; ++j) EXPECT_GT(std::abs(one[t][j] - other[t][j]), 1e-6);
  }
}

}  // namespace starling::accounts_test
