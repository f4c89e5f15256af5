/// What a run of vertical learning pays and says, from its facts to its report: a fusion centre, client 0, that
/// releases nothing or protects labels, and parties whose rounds are releases in several parts.
#include "run/privacy/run_privacy.hpp"

#include <cmath>

#include "core/check.hpp"
#include "net/agreement.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/ledger/ledger_reading.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/mechanism/multipart_mechanism.hpp"
#include "privacy/statement/statement.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::run_privacy_test {

using namespace testing_support;

constexpr Client parties = 3;
constexpr Round rounds = 6;
constexpr Round rounds_of_pass = 3;
constexpr std::size_t batch = 5;
constexpr double mu = 0.25;  // of each release

PrivacyOptions options_of(const std::string& mechanism) {
  PrivacyOptions options;
  options.mechanism = mechanism;
  if (mechanism == "gaussian") options.mu = std::to_string(mu);
  options.delta = 1e-5;
  return options;
}

class Vertical {
 public:
  Vertical(const PrivacyOptions& options, const VerticalFacts& trust)
      : trust_(trust), privacy_(agreement_, layout_, options, facts_of(options)) {}

  [[nodiscard]] Client first() const { return layout_.first(world().rank()); }
  [[nodiscard]] Client count() const { return layout_.count(world().rank()); }
  [[nodiscard]] bool pays(Client u) const { return u > 0 || !trust_.labels_known_to_all; }

  RunPrivacy& privacy() { return privacy_; }

  /// All rounds; returns how many each of this rank's clients could release.
  std::vector<Round> run() {
    privacy_.open();
    privacy_.move_in(folder_ / "");
    std::vector<Round> paid(static_cast<std::size_t>(count()));
    for (Round t = 0; t < rounds; ++t) {
      for (std::size_t k = 0; k < paid.size(); ++k) {
        if (pays(first() + static_cast<Client>(k)) && privacy_.accounts().pay(k, t)) ++paid[k];
      }
    }
    return paid;
  }
  /// Of this rank, after the run.
  [[nodiscard]] LedgerBook book() const { return read_ledger(folder_ / "ledger").book; }

 private:
  [[nodiscard]] RunFacts facts_of(const PrivacyOptions& options) const {
    RunFacts facts;
    facts.batch = batch;
    facts.dimension = 7;
    facts.rounds = rounds;
    facts.vertical = trust_;
    facts.data = {"digest"};
    const auto releases = static_cast<std::size_t>(1 + trust_.local_steps);
    facts.price_factor = std::sqrt(static_cast<double>(releases));
    facts.protection = [name = options.mechanism_row().name, releases](const ReleaseSettings& settings) {
      auto mechanism = std::make_unique<MultipartMechanism>(name, settings, releases);
      mechanism->add("embedding", settings.clip, batch * 4);
      mechanism->add("gradient", settings.clip, 7);
      return mechanism;
    };
    for (Client u = first(); u < first() + count(); ++u) {
      ServedRounds served{static_cast<std::int64_t>(batch) * rounds_of_pass, rounds_of_pass, rounds};
      if (!pays(u)) served.of_all = 0;
      facts.served.push_back(served);
    }
    return facts;
  }

  TemporaryFolder folder_;
  VerticalFacts trust_;
  Agreement agreement_{world()};
  Layout layout_ = Layout::with_centre(parties, world().size());
  RunPrivacy privacy_;
};

// By hand: a round is P releases of μ each; records are in one round of each of two passes.
TEST(VerticalPrivacy, CountsTheReleasesOfARoundWhereverItReports) {
  for (const std::int64_t local_steps : {1, 3}) {
    Vertical run(options_of("gaussian"), {true, parties, local_steps, false});
    const std::vector<Round> paid = run.run();
    for (std::size_t k = 0; k < paid.size(); ++k) {
      EXPECT_EQ(paid[k], run.first() + static_cast<Client>(k) == 0 ? 0 : rounds);
    }
    const double round = std::sqrt(1.0 + static_cast<double>(local_steps)) * mu;
    EXPECT_NEAR(run.privacy().epsilon_per_release(), gaussian_epsilon(round, 1e-5), 1e-9);
    EXPECT_NEAR(run.privacy().multipart()->deviation(1, run.privacy().prices().range().most), 2 / (mu * batch), 1e-9);
    const PrivacyReport report = run.privacy().finish(false);
    EXPECT_EQ(report.vectors, 1 + local_steps);
    EXPECT_EQ(report.trust.model, TrustModel::local);
    EXPECT_EQ(report.clients, parties + 1);
    EXPECT_EQ(report.losses.releases, rounds);
    EXPECT_EQ(report.losses.participations, 2);
    EXPECT_NEAR(*report.release.mu, round, 1e-9);
    EXPECT_NEAR(*report.losses.record.mu, std::sqrt(2.0) * round, 1e-9);
    EXPECT_NEAR(*report.losses.one_per_batch.mu, std::sqrt(6.0) * round, 1e-9);
    EXPECT_NEAR(*report.losses.client.mu, batch * std::sqrt(6.0) * round, 1e-8);
    EXPECT_NEAR(*report.trust.vertical->in_all_parties.mu, std::sqrt(parties * 2.0) * round, 1e-9);
    EXPECT_NEAR(*report.ledger.record.mu, std::sqrt(2.0) * round, 1e-9);
    EXPECT_NEAR(*report.ledger.client.mu, batch * std::sqrt(6.0) * round, 1e-8);
    EXPECT_TRUE(report.is_private());
    EXPECT_THAT(statement(report), HasSubstr(fmt::format("each of 3 parties took part in at most 6 release(s), {} "
                                                         "vectors each",
                                                         local_steps == 1 ? "two" : "at most 4")));
  }
}

TEST(VerticalPrivacy, EntersWhatEachClientReleases) {
  for (const bool to_all : {true, false}) {
    Vertical run(options_of("gaussian"), {to_all, parties, 1, false});
    static_cast<void>(run.run());
    const PrivacyReport report = run.privacy().finish(false);
    EXPECT_NEAR(*report.trust.vertical->in_all_parties.mu, std::sqrt((to_all ? 3 : 4) * 2.0 * 2) * mu, 1e-9);
    const LedgerBook book = run.book();
    EXPECT_EQ(book.entries().size(), 1U);
    if (book.entries().empty()) continue;
    const LedgerEntry& entry = book.entries()[0];
    EXPECT_TRUE(entry.finished());
    EXPECT_THAT(entry.run.parameters, HasSubstr(" releases=2 part=embedding clip=1 dimension=20 part=gradient clip=1 "
                                                "dimension=7"));
    EXPECT_THAT(entry.run.parameters, HasSubstr(to_all ? "labels=all parties=3 local-steps=1" : "labels=head "));
    for (Client u = run.first(); u < run.first() + run.count(); ++u) {
      EXPECT_EQ(entry.account(u).charged, run.pays(u) ? rounds : 0) << u;
      std::int64_t releases = 0;
      for (const ChargeGroup& group : book.spent(u, LossLevel::record_in_each_batch)) {
        EXPECT_NEAR(group.charge.mu, std::sqrt(2.0) * mu, 1e-9);
        releases += group.count;
      }
      EXPECT_EQ(releases, run.pays(u) ? rounds : 0) << u;
    }
  }
}

// All records of a client, in two rounds: 5 √(2 · 2) μ.
TEST(VerticalPrivacy, ABudgetCountsAllReleasesOfARound) {
  PrivacyOptions options = options_of("gaussian");
  options.budget = fmt::format("{}", gaussian_epsilon(batch * std::sqrt(2.0 * 2) * mu, 1e-5) * 1.001);
  Vertical run(options, {true, parties, 1, false});
  const std::vector<Round> paid = run.run();
  for (std::size_t k = 0; k < paid.size(); ++k) {
    EXPECT_EQ(paid[k], run.first() + static_cast<Client>(k) == 0 ? 0 : 2);
  }
  const PrivacyReport report = run.privacy().finish(false);
  EXPECT_EQ(report.budget->stopped, parties);
  EXPECT_EQ(report.losses.releases, 2);
}

// A centre that never pays can always afford that.
TEST(VerticalPrivacy, ABudgetForNobodyStopsTheRun) {
  PrivacyOptions options = options_of("gaussian");
  options.budget = fmt::format("{}", gaussian_epsilon(batch * std::sqrt(2.0) * mu, 1e-5) * 0.99);
  for (const bool to_all : {true, false}) {
    Vertical run(options, {to_all, parties, 1, false});
    EXPECT_THROW(run.privacy().open(), BudgetError) << to_all;
  }
}

TEST(VerticalPrivacy, WithoutNoiseNothingIsProtected) {
  for (const bool central : {false, true}) {
    Vertical run(options_of("none"), {true, parties, 1, central});
    static_cast<void>(run.run());
    const PrivacyReport report = run.privacy().finish(false);
    EXPECT_FALSE(report.is_private());
    EXPECT_EQ(report.trust.model, TrustModel::none);
    EXPECT_TRUE(std::isinf(report.losses.record.epsilon));
    EXPECT_TRUE(std::isinf(report.ledger.record.epsilon));
    const std::string text = statement(report);
    EXPECT_THAT(text, HasSubstr("NOT private"));
    EXPECT_THAT(text, HasSubstr(central ? "raw columns to rank 0" : "functions of raw columns that nothing protects"));
    EXPECT_THAT(text, Not(HasSubstr("with noise")));
  }
}

}  // namespace starling::run_privacy_test
