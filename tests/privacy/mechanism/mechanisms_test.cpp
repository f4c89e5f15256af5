/// What every mechanism must keep: instantiated from the table, so that a new row is tested with no new test.
#include "support/testing.hpp"
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>

#include "starling/core/check.hpp"
#include "starling/privacy/mechanism.hpp"

namespace {
std::atomic<long> allocations{0};
}

// Counts what the program asks for by new; OpenSSL's own memory is not seen. Not inlined: the compiler would take
// malloc under delete for a mistake.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

namespace starling {
namespace {

using testing_support::message_of;

ReleaseSettings ordinary() {
  ReleaseSettings settings;
  settings.price = PriceRange::of(0.5);
  settings.clip = 2;
  settings.batch = 4;
  settings.dimension = 6;
  settings.rounds = 50;
  settings.run_id = "conformance";
  return settings;
}

class AnyMechanism : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Mechanism> mechanism_ = mechanism_table().make(GetParam(), ordinary());
  Vector sum_{0.5, -1, 0.25, 0, 1, -0.125};

  Vector release(const ReleaseAddress& address, const Vector& sum) {
    Released<Vector> mean(declare_public(Vector()));
    mechanism_->release(address, 0.5, NoiseKey::from_seed(1, 1), Secret<Vector>(sum), mean);
    return mean.value();
  }
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
    EXPECT_NE(message_of<DataError>([&] {
                release({ReleasePath::by_itself, 1, 2, 0}, sum_);
              }).find("client 1 in round 2"),
              std::string::npos);
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
  const long before = allocations;
  for (Round t = 1; t < 100; ++t) mechanism_->release({ReleasePath::by_itself, 0, t, 0}, 0.5, key, sum, mean);
  EXPECT_EQ(allocations - before, 0);
}

INSTANTIATE_TEST_SUITE_P(Table, AnyMechanism, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const auto& row : mechanism_table().rows()) names.push_back(row.name);
                           return names;
                         }()),
                         [](const auto& row) { return testing_support::test_name(row.param); });

TEST(MechanismTable, KnowsItsMembersAndNoTestDouble) {
  EXPECT_EQ(mechanism_table().names(), "none, laplace, gaussian, dissertation");
}

TEST(None, ReleasesTheMeanItself) {
  const auto mechanism = mechanism_table().make("none", ordinary());
  Released<Vector> mean(declare_public(Vector()));
  mechanism->release({}, 0.5, NoiseKey::from_seed(1, 1), Secret<Vector>(Vector{4, 0, -2, 1, 0, 8}), mean);
  EXPECT_EQ(mean.value(), (Vector{1, 0, -0.5, 0.25, 0, 2}));
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

}  // namespace
}  // namespace starling
