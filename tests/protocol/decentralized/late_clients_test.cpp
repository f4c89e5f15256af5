// Two clients, of which one is away for a while: rounds that wait for nobody, played without any clock on the wall.
// Their optima are 0 and 10, so 5 is right. A client that is late must not have the last word, and the effective weight
// tells how much it counted.
#include <cmath>
#include <functional>

#include "privacy/ledger/accounts.hpp"
#include "privacy/mechanism.hpp"
#include "protocol/network.hpp"
#include "support/testing.hpp"

namespace starling::late_clients_test {

using namespace testing_support;

constexpr Round rounds = 10'000;
constexpr double step = 1;

double eta(Round t) {
  return step / std::sqrt(static_cast<double>(t + 1));
}

double steps_between(Round begin, Round end) {
  double sum = 0;
  for (Round t = begin; t < end; ++t) sum += eta(t);
  return sum;
}

/// How client 1 (optimum 10), which is the protocol's, meets client 0 (optimum 0), which is simulated here: it has
/// played `clock(t)` rounds when client 1 begins its own round t, and it steps alone meanwhile. Both hold mass 1 and
/// average their models in each round in which they meet.
class Meetings final : public Mixer {
 public:
  explicit Meetings(std::function<Round(Round)> clock) : Mixer(1, 1), clock_of_(std::move(clock)) {}
  [[nodiscard]] bool begin_round(Round t) override {
    for (const Round now = std::min(clock_of_(t), rounds); clock_ < now; ++clock_) other_ -= eta(clock_) * other_;
    ++own_rounds_;
    return true;
  }
  [[nodiscard]] Round clock() const override { return clock_; }
  [[nodiscard]] Attendance attendance(std::size_t) const override { return Attendance::present; }
  [[nodiscard]] bool has_left(std::size_t) const override { return false; }
  void mix(Holdings& holdings, Stopwatch&, TimeShares&) override { meet(holdings); }
  void finish(Holdings& holdings) override { meet(holdings); }
  void persist(Snapshot&) override {}
  [[nodiscard]] Round own_rounds() const { return own_rounds_; }

 private:
  void meet(Holdings& holdings) {
    holdings.state.update([&](Columns& state) { state[0][0] = other_ = (other_ + state[0][0]) / 2; });
  }

  std::function<Round(Round)> clock_of_;
  Round clock_ = 0;
  Round own_rounds_ = 0;
  double other_ = 5;
};

struct Outcome {
  double model;
  double weight;
  Round own_rounds;
};

Outcome play(std::function<Round(Round)> clock) {
  Meetings mixer(std::move(clock));
  const auto domain = domain_table().make("free");
  const auto map = mirror_table().make("euclidean", *domain);
  QuadraticModel model(1);
  const ReleaseSettings release{.clip = std::numeric_limits<double>::infinity(), .dimension = 1};
  const auto mechanism = mechanism_table().make("none", release);
  Accounts accounts(*mechanism, Prices::parse("1", "price", rounds, 2, 0, 1), rounds, 1, std::vector<ServedRounds>(1));
  Learning learning{model, *mechanism, accounts, {NoiseKey::from_seed(1, 1)}, {}};
  learning.streams.push_back(std::make_unique<ConstantStream>(Vector{10}));
  OmdSettings settings;
  settings.rounds = rounds;
  settings.step = step;
  Columns start(1, 1);
  start[0][0] = 5;
  DecentralizedOmd omd(mixer, *map, std::move(learning), settings, Released<Columns>(declare_public(std::move(start))));
  omd.run({});
  EXPECT_EQ(omd.done(), rounds);
  return {omd.model(0)[0], omd.effective_weight(0), mixer.own_rounds()};
}

/// In step, but for being away from round `begin` to round `end`.
std::function<Round(Round)> away(Round begin, Round end) {
  return [=](Round t) { return t < begin ? t + 1 : end + (t - begin) + 1; };
}

TEST(LateClient, CountsInFullWhereItKeepsPace) {
  const Outcome outcome = play([](Round t) { return t + 1; });
  EXPECT_NEAR(outcome.model, 5, 0.1);
  EXPECT_NEAR(outcome.weight, 1, 1e-12);
  EXPECT_EQ(outcome.own_rounds, rounds);
}

TEST(LateClient, CountsInFullIfTwentyTimesSlower) {
  const Outcome outcome = play([](Round t) { return 20 * (t + 1); });
  EXPECT_NEAR(outcome.model, 5, 0.7);  // its steps are twenty times as long
  EXPECT_GT(outcome.weight, 0.99);
}

TEST(LateClient, MakesUpForWhatItMissedWhereOthersHaveStepsLeft) {
  const Outcome outcome = play(away(rounds / 10, rounds / 5));
  EXPECT_NEAR(outcome.model, 5, 0.1);
  EXPECT_NEAR(outcome.weight, 1, 1e-9);
}

TEST(LateClient, StepsNoMoreOnceTheOthersHaveEnded) {
  for (const Round missed : {rounds / 100, rounds / 10, rounds / 2}) {
    const Outcome outcome = play(away(rounds - missed, rounds));
    EXPECT_LT(outcome.model, 5);
    EXPECT_GT(outcome.model, 1);
    const double share = steps_between(rounds - missed, rounds) / steps_between(0, rounds);
    EXPECT_NEAR(outcome.weight, 1 - share, 1e-9) << missed;
  }
}

// It comes back while the others still step, and has much more to make up for than they have left.
TEST(LateClient, DoesNotHaveTheLastWordNearTheEnd) {
  for (const Round left : {3, 30, 300, 1000}) {
    const Outcome outcome = play(away(rounds / 2, rounds - left));
    EXPECT_GT(outcome.model, 2) << left;
    EXPECT_LT(outcome.model, 7) << left;
    EXPECT_LT(outcome.weight, 0.95) << left;
  }
}

// A few rounds late is what any rank is whose processor does something else at times.
TEST(LateClient, PlaysItsLastRoundIfItIsALittleLate) {
  const Outcome outcome = play(away(rounds - 20, rounds));
  EXPECT_NEAR(outcome.weight, 1, 1e-12);
  EXPECT_NEAR(outcome.model, 5, 0.2);
}

}  // namespace starling::late_clients_test
