#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/statistics.hpp"
#include "releases.hpp"
#include "support/slow.hpp"
#include "support/testing.hpp"

namespace starling::dissertation_test {

using namespace testing_support;

/// The dissertation's second chapter: ε = 0.1, T = 50, d = 5.
ReleaseSettings chapter_two() {
  return {.price = PriceRange::of(0.1), .dimension = 5, .rounds = 50, .run_id = "test"};
}

Vector release(Mechanism& mechanism, Round round, const Vector& sum) {
  return released(mechanism, {ReleasePath::by_itself, 0, round}, mechanism.settings().price.least, sum);
}

TEST(Dissertation, ChargesADeltaForItsTruncation) {
  const auto mechanism = mechanism_table().make("dissertation", chapter_two());
  EXPECT_EQ(mechanism->charge(0.1).epsilon, 0.1);
  EXPECT_NEAR(mechanism->charge(0.1).delta, 2.376e-7, 1e-10);  // p (1 + e^0.1)/2, p = 50^(−ln 50)
  EXPECT_EQ(mechanism->unit(), PrivacyUnit::component);
  EXPECT_EQ(mechanism->clip().kind, ClipKind::l2);
}

// 0.2 √5 for the whole record: ε‖Δ‖₁ with ‖Δ‖₂ ≤ 2.
TEST(Dissertation, SaysWhatAWholeRecordCosts) {
  const std::string text = mechanism_table().make("dissertation", chapter_two())->description();
  EXPECT_THAT(text, HasSubstr("epsilon = 0.4472"));
  EXPECT_THAT(text, HasSubstr("no finite epsilon"));
}

// δ can be read off the truncated noise: what lies outside the neighbour's support, in numerical integration.
TEST(Dissertation, DeltaIsTheWorstHockeyStickOfTheTruncatedNoise) {
  const double epsilon = 0.5;
  const double b = std::log(5.0) * std::log(5.0) / epsilon;
  const auto density = [&](double x) { return std::abs(x) <= b ? epsilon / 2 * std::exp(-epsilon * std::abs(x)) : 0; };
  double excess = std::exp(-epsilon * b);  // the atom, where the neighbour has none
  constexpr int cells = 400000;
  const double width = 2 * (b + 1) / cells;
  for (int i = 0; i < cells; ++i) {
    const double x = -(b + 1) + (i + 0.5) * width;
    excess += std::max(0.0, density(x) - std::exp(epsilon) * density(x - 1)) * width;
  }
  ReleaseSettings settings = chapter_two();
  settings.price = PriceRange::of(epsilon);
  settings.rounds = 5;
  EXPECT_NEAR(mechanism_table().make("dissertation", settings)->charge(0.1).delta, excess, 1e-5);
}

TEST(Dissertation, ReleasesUnitVectorsTheSameForTheSameData) {
  const auto mechanism = mechanism_table().make("dissertation", chapter_two());
  const Vector sum{0.5, -0.5, 0.1, 0, 0.2};
  const Vector first = release(*mechanism, 3, sum);
  EXPECT_NEAR(norm2(first), 1, 1e-15);
  EXPECT_EQ(release(*mechanism, 3, sum), first);
  EXPECT_NE(release(*mechanism, 4, sum), first);
}

// E[ĝ] ≈ 1/√d + c (g − mean g), c ≈ 2/((2b + 1)√d) = 0.0029: far from the g that is claimed. A component
// varies by about 0.04, so a contrast of two by 0.057 (standard error 4e-5 in 2·10^6 draws).
TEST(Dissertation, HardlyDependsOnTheGradient) {
  if (!slow()) GTEST_SKIP() << "slow: privacy/mechanism/dissertation_slow runs it";
  constexpr int rounds = 2000000;
  const auto mechanism = mechanism_table().make("dissertation", chapter_two());
  const Vector gradient{0.7, -0.7, 0.1, 0, 0};
  Vector average(5);
  for (Round t = 0; t < rounds; ++t) axpy(1.0 / rounds, release(*mechanism, t, gradient), average);
  EXPECT_NEAR(sum(average) / 5, 1 / std::sqrt(5.0), 0.003);
  const double slope = (average[0] - average[1]) / 1.4;
  EXPECT_NEAR(slope, 0.0029, 0.0002);
}

TEST(Dissertation, RefusesWhatItIsNotDefinedFor) {
  const auto refusal = [](const ReleaseSettings& settings) {
    return message_of<UsageError>([&] { return mechanism_table().make("dissertation", settings); });
  };
  ReleaseSettings settings = chapter_two();
  settings.rounds = 1;
  EXPECT_THAT(refusal(settings), HasSubstr("at least 2 rounds"));
  settings = chapter_two();
  settings.price = PriceRange::of(0);
  EXPECT_THAT(refusal(settings), HasSubstr("epsilon=0"));
  settings = chapter_two();
  settings.clip = std::numeric_limits<double>::infinity();
  EXPECT_THAT(refusal(settings), HasSubstr("clip=inf"));
}

}  // namespace starling::dissertation_test
