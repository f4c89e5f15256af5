// Charges that rise with the number of releases: somebody with a record in each, computed anew from matrices.
#include <cmath>
#include <numeric>

#include "core/check.hpp"
#include "ledger_samples.hpp"
#include "privacy/accounting/accounting.hpp"
#include "privacy/accounting/spending.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/ledger/ledger.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/mechanism/paired_mechanism.hpp"
#include "support/testing.hpp"

namespace starling::risen_charges_test {

using ledger_samples::block_of;
using ledger_samples::run_of;
using testing_support::TemporaryFolder;

constexpr double mu = 0.05;
constexpr double delta = 1e-5;
constexpr std::size_t batch = 3;

const NoiseCorrelation& planned() {
  static const NoiseCorrelation correlation = best_correlation(8, 1);
  return correlation;
}

/// What a record in each of `rounds` releases moves C q, and by a column for one of them: row by row of the matrix.
double norm_of_chain(std::size_t rounds) {
  const std::vector<double> column = column_of(planned(), rounds);
  double square = 0;
  for (std::size_t row = 0; row < rounds; ++row) {
    square += std::pow(std::accumulate(column.begin(), column.begin() + static_cast<std::ptrdiff_t>(row) + 1, 0.0), 2);
  }
  const std::vector<double> endless = column_of(planned(), 100'000);
  return std::sqrt(square / std::inner_product(endless.begin(), endless.end(), endless.begin(), 0.0));
}

struct Kind {
  const char* name;
  bool correlated;
  std::optional<SecondPart> second;
  double (*loss)(std::size_t releases);  ///< of somebody with a record in each, in multiples of mu
};

SecondPart second_part(std::optional<std::size_t> once_of, std::optional<Round> first_rounds) {
  SecondPart part{.what = "part", .share = 0.25, .once_of = once_of};
  part.of_first_rounds = first_rounds;
  return part;
}

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {"independent", false, std::nullopt, [](std::size_t n) { return std::sqrt(static_cast<double>(n)); }},
      {"chain", true, std::nullopt, norm_of_chain},
      {"chain and a second part", true, second_part(std::nullopt, std::nullopt),
       [](std::size_t n) { return std::hypot(std::sqrt(0.75) * norm_of_chain(n), 0.5 * std::sqrt(n)); }},
      {"first rounds and a chain", true, second_part(15, 5),
       [](std::size_t n) { return n <= 5 ? static_cast<double>(n) : std::hypot(5.0, norm_of_chain(n - 5)); }},
      {"sums at the end", false, second_part(300, std::nullopt), [](std::size_t n) {
         return std::hypot(std::sqrt(0.75 * static_cast<double>(n)), 0.5 * static_cast<double>(n));
       }}};
  return all;
}

std::unique_ptr<Mechanism> mechanism_of(const Kind& kind) {
  ReleaseSettings settings{.price = PriceRange::of(mu), .batch = batch, .dimension = 2, .rounds = 8, .run_id = "run"};
  if (kind.correlated) settings.correlation = planned();
  if (kind.second) return std::make_unique<PairedMechanism>("gaussian", settings, *kind.second);
  return mechanism_table().make("gaussian", settings);
}

LedgerRun run_under(const Mechanism& mechanism) {
  LedgerRun run = run_of("run");
  run.batch = batch;
  run.batch_units = units_of_batch(mechanism);
  run.accumulation = mechanism.accumulation();
  run.clients = {0};
  return run;
}

double mu_of(const Ledger& ledger, LossLevel level) {
  return *compose(ledger.book().spent(0, level), delta).mu;
}

/// The ledger, read anew.
void expect_losses(const std::string& path, const Kind& kind, std::size_t releases) {
  const Ledger ledger = Ledger::open(path);
  const double one_per_batch = mu * kind.loss(releases);
  for (const auto& [level, expected] :
       {std::pair{LossLevel::record_in_each_batch, one_per_batch}, {LossLevel::client, batch * one_per_batch}}) {
    const double found = mu_of(ledger, level);
    EXPECT_NEAR(found / expected, 1, 1e-9) << kind.name << ", " << releases;
    EXPECT_GE(found, expected * (1 - 1e-14)) << kind.name << ", " << releases;
  }
  EXPECT_NEAR(mu_of(ledger, LossLevel::record), mu, 1e-15) << kind.name;
}

TEST(RisenCharges, AreThoseOfTheReleasesThatAreCharged) {
  for (const Kind& kind : kinds()) {
    const TemporaryFolder folder;
    const auto mechanism = mechanism_of(kind);
    {
      Ledger ledger = Ledger::open(folder / "ledger");
      ledger.begin(run_under(*mechanism));
      ledger.reserve(block_of(0, 0, 7, Charge::gaussian(mu)));
      ledger.end(0, 8, LedgerEnd::finished);
    }
    expect_losses(folder / "ledger", kind, 8);
    {
      Ledger ledger = Ledger::open(folder / "ledger");
      ledger.resume("run", "abc123");
      ledger.reserve(block_of(0, 8, 99, Charge::gaussian(mu)));
      EXPECT_NEAR(mu_of(ledger, LossLevel::client) / (batch * mu * kind.loss(100)), 1, 1e-9) << kind.name;
      ledger.end(0, 60, LedgerEnd::stopped);
    }
    expect_losses(folder / "ledger", kind, 60);
  }
}

TEST(RisenCharges, AreWhatTheRunItselfCounts) {
  for (const Kind& kind : kinds()) {
    const auto mechanism = mechanism_of(kind);
    Spending spending;
    for (int t = 0; t < 60; ++t) spending.add(mu, 0);
    const ClientLosses losses = losses_of(spending, *mechanism, delta);
    EXPECT_NEAR(*losses.one_per_batch.mu / (mu * kind.loss(60)), 1, 1e-9) << kind.name;
    EXPECT_NEAR(*losses.client.mu / (batch * mu * kind.loss(60)), 1, 1e-9) << kind.name;
  }
}

/// The most releases after which a client has lost no more than the budget.
Round releases_within(const Kind& kind, const Budget& budget) {
  const double units = budget.of_client ? batch : 1;
  std::size_t n = 0;
  while (n < 200 && gaussian_epsilon(units * mu * kind.loss(n + 1), delta) <= budget.epsilon) ++n;
  return static_cast<Round>(n);
}

// The run was planned for eight rounds, and is resumed with 200.
TEST(RisenCharges, EndARunThatHasMoreRoundsWithinItsBudget) {
  for (const Kind& kind : kinds()) {
    const TemporaryFolder folder;
    const auto mechanism = mechanism_of(kind);
    Ledger ledger = Ledger::open(folder / "ledger");
    const Budget budget{5, true, delta};
    const Prices prices = Prices::parse(std::to_string(mu), "--mu", 200, 1, 0, 100);
    Round released = 0;
    for (const Round rounds : {8, 200}) {
      released == 0 ? ledger.begin(run_under(*mechanism)) : ledger.resume("run", "abc123");
      Accounts accounts(*mechanism, prices, rounds, 0, {{}});
      accounts.keep_in({&ledger}, BlockSizes::doubling());
      accounts.limit({budget});
      EXPECT_TRUE(accounts.open());
      while (released < rounds && accounts.pay(0, released)) ++released;
      accounts.close(LedgerEnd::finished);
    }
    EXPECT_EQ(released, releases_within(kind, budget)) << kind.name;
    EXPECT_GT(released, 8) << kind.name;
    EXPECT_LT(released, 200) << kind.name;
  }
}

/// A row as version 0.2.0 wrote it, with the largest factor of up to eight rounds, which were planned.
LedgerRun row_of_0_2_0(const Kind& kind) {
  LedgerRun run = run_of("run");
  run.batch = batch;
  run.batch_units = 1;
  for (std::size_t n = 1; n <= 8; ++n) {
    run.batch_units = std::max(run.batch_units, batch * kind.loss(n) / std::sqrt(static_cast<double>(n)));
  }
  if (kind.correlated) run.parameters += " correlation: " + planned().text() + " trust=local clients=1";
  run.clients = {0};
  return run;
}

TEST(RisenCharges, OfOldRowsCoverMoreRoundsThanWerePlanned) {
  for (const Kind& kind : kinds()) {
    if (!kind.correlated) continue;
    for (const Round rounds : {1, 8, 9, 200}) {
      const TemporaryFolder folder;
      Ledger ledger = Ledger::open(folder / "ledger");
      ledger.begin(row_of_0_2_0(kind));
      ledger.reserve(block_of(0, 0, rounds - 1, Charge::gaussian(mu)));
      const double lost = batch * mu * kind.loss(static_cast<std::size_t>(rounds));
      const double found = mu_of(ledger, LossLevel::client);
      EXPECT_GE(found, lost * (1 - 1e-12)) << kind.name << ", " << rounds;
      EXPECT_LE(found, lost * (rounds >= 8 && !kind.second ? 1 + 1e-9 : 2.5)) << kind.name << ", " << rounds;
    }
  }
}

TEST(RisenCharges, AreRefusedWhereTheirFactsAreNoFacts) {
  const TemporaryFolder folder;
  Ledger ledger = Ledger::open(folder / "ledger");
  for (const Accumulation& wrong : {Accumulation{.independent = 1}, Accumulation{.independent = 0.5, .once = 0.5},
                                    Accumulation{.first_rounds = -1}, Accumulation{.once = -0.1, .first_rounds = 1}}) {
    LedgerRun run = run_of("run");
    run.accumulation = wrong;
    EXPECT_ERROR(UsageError, "shares come to less than 1", ledger.begin(run));
  }
  LedgerRun run = run_of("run");
  run.parameters += " correlation: omega=1";
  EXPECT_ERROR(UsageError, "no correlation of noise", ledger.begin(run));
}

}  // namespace starling::risen_charges_test
