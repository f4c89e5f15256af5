#include <string>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "data/generators/synthetic.hpp"
#include "support/testing.hpp"

namespace starling::tracking_test {

using namespace testing_support;

std::unique_ptr<Generator> tracking(const std::string& parameters, Client clients, std::uint64_t seed = 1) {
  return make_generator("synthetic:tracking" + (parameters.empty() ? "" : ":" + parameters), {clients, seed});
}

Vector record(const Generator& generator, Client u, Round t) {
  Vector values(generator.features());
  AddressedRandom random(1, Purpose::data, static_cast<std::uint64_t>(u), static_cast<std::uint64_t>(t));
  EXPECT_EQ(generator.draw(t, u, random, values), 0);
  return values;
}

/// Of one client alone, whose offset is zero.
Vector target(const Generator& alone, Round t) {
  return record(alone, 0, t);
}

double distance(View a, View b) {
  Vector difference(a.begin(), a.end());
  axpy(-1, b, difference);
  return norm2(difference);
}

struct Case {
  const char* parameters;
  double path;
};

class AnyTracking : public testing::TestWithParam<Case> {};

// On the unit sphere, at one speed, turns included.
TEST_P(AnyTracking, TheTargetMovesByThePathLengthInEveryRound) {
  const auto alone = tracking(GetParam().parameters, 1);
  Vector before = target(*alone, 1);
  for (Round t = 2; t < 6000; ++t) {
    const Vector now = target(*alone, t);
    EXPECT_NEAR(distance(now, before), GetParam().path, 1e-12) << t;
    EXPECT_NEAR(norm2(now), 1, 1e-12) << t;
    before = now;
  }
}

// In every round the mean over the clients is the target; a client's offset stays, and is about as long as it should
// be.
TEST_P(AnyTracking, OffsetsAddUpToZeroAndStay) {
  constexpr Client clients = 8;
  const auto alone = tracking(GetParam().parameters, 1);
  const auto all = tracking(std::string(GetParam().parameters) + ",spread=3", clients);
  for (const Round t : {1, 17, 4000}) {
    Vector mean(all->features());
    for (Client u = 0; u < clients; ++u) {
      const Vector own = record(*all, u, t);
      axpy(1.0 / clients, own, mean);
      Vector offset = own;
      axpy(-1, target(*alone, t), offset);
      EXPECT_GT(norm2(offset), 0.3);
      EXPECT_LT(norm2(offset), 6);
      Vector first = record(*all, u, 1);
      axpy(-1, target(*alone, 1), first);
      EXPECT_LT(distance(offset, first), 1e-12);
    }
    EXPECT_LT(distance(mean, target(*alone, t)), 1e-12);
  }
}

// The same bits in whatever order rounds are asked for, across more than one milestone (1,024 turns).
TEST_P(AnyTracking, RoundsAreTheSameInAnyOrder) {
  const auto forward = tracking(GetParam().parameters, 3);
  const auto crosswise = tracking(GetParam().parameters, 3);
  constexpr Round rounds = 3500;
  std::vector<Vector> expected;
  for (Round t = 1; t <= rounds; ++t) expected.push_back(record(*forward, 2, t));
  for (Round i = 0; i < rounds; i += 11) {
    const Round t = (i * 1777 + 3001) % rounds;
    EXPECT_EQ(record(*crosswise, 2, t + 1), expected[static_cast<std::size_t>(t)]) << t;
  }
}

INSTANTIATE_TEST_SUITE_P(Paths, AnyTracking,
                         testing::Values(Case{"path=0.01", 0.01}, Case{"path=0", 0}, Case{"d=2,path=2", 2},
                                         Case{"d=2,path=0.1,period=7", 0.1}, Case{"d=20,path=0.5,period=1", 0.5}),
                         [](const auto& row) { return test_name(row.param.parameters); });

TEST(Tracking, TakesAnotherDirectionAfterItsPeriodAlone) {
  const auto alone = tracking("d=6,path=0.05,period=10", 1);
  for (Round t = 2; t < 60; ++t) {
    // On a great circle θ_{t+1} + θ_{t−1} is a multiple of θ_t.
    Vector sum = target(*alone, t + 1);
    axpy(1, target(*alone, t - 1), sum);
    axpy(-dot(sum, target(*alone, t)), target(*alone, t), sum);
    const bool turns = (t - 1) % 10 == 0;  // round 11 is where the second leg begins
    EXPECT_EQ(norm2(sum) > 1e-6, turns) << t;
  }
}

TEST(Tracking, DependsOnTheSeedAndHasDefaults) {
  const auto generator = tracking("", 4);
  EXPECT_EQ(generator->features(), 5U);
  EXPECT_EQ(generator->records(), 0);
  EXPECT_NE(record(*generator, 1, 1), record(*tracking("", 4, 2), 1, 1));
  EXPECT_NE(record(*generator, 1, 1), record(*generator, 2, 1));
  EXPECT_EQ(tracking("n=7", 1)->records(), 7);
}

TEST(Tracking, RefusesWhatItCannotDraw) {
  const auto error = [](const std::string& parameters) {
    return message_of<UsageError>([&] { return tracking(parameters, 3); });
  };
  EXPECT_THAT(error("d=1"), HasSubstr("d=1: it must lie between 2 and"));
  EXPECT_THAT(error("path=2.5"), HasSubstr("path=2.5: it must lie between 0 and 2."));
  EXPECT_THAT(error("spread=-1"), HasSubstr("spread=-1: it must lie between 0 and"));
  EXPECT_THAT(error("period=-3"), HasSubstr("period=-3: it must lie between 0 and"));
  EXPECT_THAT(error("speed=2"), HasSubstr("unknown key 'speed'"));
}

}  // namespace starling::tracking_test
