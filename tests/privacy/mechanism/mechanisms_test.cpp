/// The conformance tests of mechanisms: instantiated from the table and two toy members, so that a new row needs no new
/// test.
#include <cmath>
#include <limits>
#include <map>

#include "core/check.hpp"
#include "privacy/accounting/accounting.hpp"
#include "privacy/audit/audit_check.hpp"
#include "privacy/audit/audit_subjects.hpp"
#include "privacy/ledger/ledger_reading.hpp"
#include "privacy/ledger/ledger_samples.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/rows.hpp"
#include "releases.hpp"
#include "spherical_mechanism.hpp"
#include "support/allocations.hpp"
#include "support/sanitized.hpp"
#include "support/slow.hpp"
#include "support/testing.hpp"
#include "toy_mechanism.hpp"

namespace starling::mechanisms_test {

using namespace testing_support;

const MechanismTable& table() {
  static const MechanismTable with_toys = mechanism_table().with(toy_row()).with(spherical_row());
  return with_toys;
}

/// Bounds that an audit of a mechanism must reach.
struct AuditPower {
  double share = 0.9;    ///< of a claim of 1 in two dimensions: what the audit must recover
  double refuted = 0.2;  ///< a claim for releases at the price 0.5 in six dimensions that an audit must refute
};

const std::string about_weak_audits =
    "Either there is more noise than the claim needs, or the claim is reached by rare releases alone: see \"What an "
    "audit must show\" in docs/how-to/add-a-mechanism.md";

/// The mechanisms whose claim is reached by rare releases alone, so that audits recover less of it. Each line says why.
AuditPower audit_power(const std::string& name) {
  static const std::map<std::string, AuditPower> weaker{
      {"spherical", {.share = 0.7, .refuted = 0.1}},  // the loss is the cosine of an angle, times the claim
  };
  const auto found = weaker.find(name);
  return found == weaker.end() ? AuditPower{} : found->second;
}

ReleaseSettings ordinary() {
  return {.price = PriceRange::of(0.5), .clip = 2, .batch = 4, .dimension = 6, .rounds = 50, .run_id = "conformance"};
}

class AnyMechanism : public testing::TestWithParam<std::string> {
 protected:
  const MechanismRow& row_ = table().row(GetParam());
  std::unique_ptr<Mechanism> mechanism_ = table().make(GetParam(), ordinary());
  Vector sum_{0.5, -1, 0.25, 0, 1, -0.125};

  Vector release(const ReleaseAddress& address, const Vector& sum) { return released(*mechanism_, address, 0.5, sum); }
};

TEST_P(AnyMechanism, SaysWhatItDoesAndWhatItCosts) {
  EXPECT_TRUE(mechanism_->description().ends_with('.'));
  const Charge charge = mechanism_->charge(0.5);
  const bool charges = charge.kind != ChargeKind::unbounded;
  EXPECT_EQ(charges, mechanism_->price_kind() != PriceKind::none);
  const bool in_mu = mechanism_->price_kind() == PriceKind::mu;
  EXPECT_EQ(charge.kind == ChargeKind::gaussian, in_mu);
  EXPECT_GT(in_mu ? charge.mu : charge.epsilon, 0);
  EXPECT_TRUE(!charges || (in_mu ? charge.mu : charge.epsilon) <= 0.5);
  EXPECT_GE(charge.delta, 0);
  EXPECT_LE(charge.delta, 1);
  // A finite loss needs a finite clip.
  EXPECT_TRUE(!charges || (mechanism_->clip().kind != ClipKind::none && mechanism_->clip().bound <= 2));
}

TEST_P(AnyMechanism, IsAsItsRowSays) {
  EXPECT_EQ(mechanism_->charge(0.5).kind, row_.charge);
  EXPECT_EQ(mechanism_->price_kind(), row_.price_kind());
  EXPECT_EQ(mechanism_->settings().dimension, 6U);
  // Neighbours that are means have one pair; gradients have three.
  EXPECT_EQ(neighbouring_sums(*mechanism_).size(), row_.about_means ? 1U : 3U);
  const ReleaseAddress address{ReleasePath::by_itself, 1, 2, 0};
  const Vector first = release(address, sum_);
  ReleaseSettings longer = ordinary();
  longer.rounds *= 2;
  mechanism_ = table().make(GetParam(), longer);
  EXPECT_EQ(release(address, sum_) != first, row_.depends_on_rounds);
}

// The likelihood ratio of events under neighbouring inputs, by exact confidence limits.
TEST_P(AnyMechanism, KeepsItsClaimInAnAudit) {
  const AuditSettings settings{.samples = 20'000};
  for (const NeighbouringSums& pair : neighbouring_sums(*mechanism_)) {
    const AuditSubject subject = release_subject(*mechanism_, 0.5, pair, numbered_audit_keys(3));
    const AuditResult result = audit(subject, mechanism_->charge(0.5), settings);
    EXPECT_FALSE(result.refuted) << pair.name << ": " << result.event();
  }
  // The audit would see a loss above the claim.
  const AuditSubject subject =
      release_subject(*mechanism_, 0.5, neighbouring_sums(*mechanism_).front(), numbered_audit_keys(3));
  const double less = audit_power(row_.name).refuted;
  const AuditResult result = audit(subject, row_.gaussian() ? Charge::gaussian(less) : Charge::pure(less), settings);
  EXPECT_TRUE(result.refuted) << fmt::format("releases at the price 0.5 pass for releases at the price {}: {}. {}",
                                             less, result.event(), about_weak_audits);
}

TEST_P(AnyMechanism, IsAuditedRightlyIfItProtectsRecords) {
  if (!row_.protects() || row_.about_means) return;
  if (row_.name != "gaussian" && !slow()) GTEST_SKIP() << "slow: privacy/mechanism/mechanisms_slow runs it";
  if (sanitized) GTEST_SKIP() << "millions of releases, as others make some of";
  AuditCheckPlan plan = check_of_releases(numbered_audit_keys(5));
  plan.share_to_recover = audit_power(row_.name).share;
  const auto checks = check_audit(row_, plan);
  EXPECT_EQ(checks.size(), 2 + planted_faults().size());
  for (const AuditCheck& check : checks) {
    EXPECT_TRUE(check.passed) << check.name << ": " << check.detail << ". "
                              << (check.name == plan.honest ? about_weak_audits : "");
  }
}

TEST_P(AnyMechanism, HasChargesThatALedgerKeepsAndThatCompose) {
  const TemporaryFolder folder;
  const std::string path = folder / "ledger";
  const Charge charge = mechanism_->charge(0.5);
  {
    Ledger ledger = Ledger::open(path);
    ledger.begin(ledger_samples::run_of("run"));
    ledger.reserve(ledger_samples::block_of(0, 0, 6, charge));
  }
  const LedgerReading reading = read_ledger(path);
  ASSERT_FALSE(reading.damage) << reading.damage->reason;
  const std::vector<ChargeGroup> spent = reading.book.spent(0, LossLevel::record_in_each_batch);
  EXPECT_EQ(spent, (std::vector<ChargeGroup>{{charge, 7}}));
  const double together = compose(spent, 1e-5).epsilon;
  EXPECT_EQ(std::isfinite(together), row_.protects());
  EXPECT_GE(together, compose(std::vector<ChargeGroup>{{charge, 1}}, 1e-5).epsilon);
}

TEST_P(AnyMechanism, IsAFunctionOfItsArguments) {
  const Vector first = release({ReleasePath::by_itself, 1, 2, 0}, sum_);
  EXPECT_EQ(first.size(), sum_.size());
  release({ReleasePath::by_itself, 4, 5, 6}, Vector(6));
  EXPECT_EQ(release({ReleasePath::by_itself, 1, 2, 0}, sum_), first);
}

TEST_P(AnyMechanism, ReleasesFiniteNumbers) {
  for (Round t = 0; t < 1000; ++t) {
    for (const double value : release({ReleasePath::by_itself, 0, t, 0}, sum_)) ASSERT_TRUE(std::isfinite(value));
  }
}

TEST_P(AnyMechanism, RefusesSumsThatAreNotFinite) {
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    sum_[3] = value;
    EXPECT_ERROR(DataError, "client 1 in round 2", release({ReleasePath::by_itself, 1, 2, 0}, sum_));
  }
}

TEST_P(AnyMechanism, RefusesSumsOfTheWrongLength) {
  EXPECT_THROW(release({ReleasePath::by_itself, 1, 2, 0}, Vector(7)), DataError);
}

TEST_P(AnyMechanism, AllocatesNothingOnceWarm) {
  Released<Vector> mean(declare_public(Vector(6)));
  const Secret<Vector> sum(sum_);
  const NoiseKey key = NoiseKey::from_seed(1, 1);
  mechanism_->release({ReleasePath::by_itself, 0, 0, 0}, 0.5, key, sum, mean);
  const long before = allocations();
  for (Round t = 1; t < 100; ++t) mechanism_->release({ReleasePath::by_itself, 0, t, 0}, 0.5, key, sum, mean);
  EXPECT_EQ(allocations() - before, 0);
}

INSTANTIATE_TEST_SUITE_P(Table, AnyMechanism, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const auto& row : table().rows()) names.push_back(row.name);
                           return names;
                         }()),
                         [](const auto& row) { return test_name(row.param); });

TEST(MechanismTable, KnowsItsMembersAndNoTestDouble) {
  const std::string names = mechanism_table().names();
  EXPECT_TRUE(names.starts_with("none, laplace, gaussian, dissertation")) << names;
  EXPECT_THAT(names, Not(HasSubstr("toy")));
  EXPECT_EQ(table().names(), names + ", toy, spherical");
}

TEST(MechanismTable, AnswersByCapabilities) {
  const MechanismTable known({none_row(), laplace_row(), gaussian_row(), dissertation_row()});
  EXPECT_EQ(known.names_where(&MechanismRow::divisible), "none, laplace, gaussian");
  EXPECT_EQ(known.names_where(&MechanismRow::protects), "laplace, gaussian, dissertation");
  EXPECT_TRUE(table().row("toy").protects());
  EXPECT_EQ(known.first(ChargeKind::unbounded).name, "none");
  EXPECT_THROW(static_cast<void>(known.first(ChargeKind::pure)), FailureError);
  EXPECT_EQ(message_of<UsageError>([&] { return known.row("hope"); }),
            "unknown mechanism 'hope': known are none, laplace, gaussian, dissertation. Choose one of them.");
}

TEST(CorrelatedGaussian, AllocatesNothingOnceWarm) {
  ReleaseSettings settings = ordinary();
  settings.correlation = best_correlation(settings.rounds, 1);
  const auto mechanism = mechanism_table().make("gaussian", settings);
  Released<Vector> mean(declare_public(Vector(6)));
  const Secret<Vector> sum(Vector(6));
  const NoiseKey key = NoiseKey::from_seed(1, 1);
  const auto release = [&](Client client, Round t) {
    mechanism->release({ReleasePath::by_itself, client, t, 0}, 0.5, key, sum, mean);
  };
  for (const Client client : {1, 0}) release(client, 0);
  const long before = allocations();
  for (Round t = 1; t < 100; ++t) release(t % 2 == 0 ? 0 : 1, t);
  EXPECT_EQ(allocations() - before, 0);
}

TEST(None, ReleasesTheMeanItself) {
  const auto mechanism = mechanism_table().make("none", ordinary());
  EXPECT_EQ(released(*mechanism, {}, 0.5, {4, 0, -2, 1, 0, 8}), (Vector{1, 0, -0.5, 0.25, 0, 2}));
  EXPECT_EQ(mechanism->charge(0.5).epsilon, std::numeric_limits<double>::infinity());
}

TEST(None, ClipsOnlyIfAsked) {
  EXPECT_EQ(mechanism_table().make("none", ordinary())->clip().kind, ClipKind::l2);
  EXPECT_EQ(mechanism_table().make("none", ordinary())->clip().bound, 2);
  ReleaseSettings settings = ordinary();
  settings.clip = std::numeric_limits<double>::infinity();
  EXPECT_EQ(mechanism_table().make("none", settings)->clip().kind, ClipKind::none);
  settings.clip = 0;
  EXPECT_THROW(mechanism_table().make("none", settings), UsageError);
}

}  // namespace starling::mechanisms_test
