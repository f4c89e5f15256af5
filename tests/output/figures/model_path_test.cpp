// The contraction that a path shows, and the influence of rounds under it, against sums of products.
#include "output/figures/model_path.hpp"

#include <cmath>
#include <random>

#include "output/fake_view.hpp"
#include "support/testing.hpp"

namespace starling::model_path_test {

using namespace testing_support;

StepSchedule falling(Round rounds) {
  StepSchedule schedule;
  schedule.step = 0.2;
  schedule.zero_at = rounds;
  return schedule;
}

/// A client whose model goes to (4, −2) by a contraction of 1 − η a in each round.
class Contracting final : public FakeView {
 public:
  Contracting(const StepSchedule& schedule, double a, std::size_t clients)
      : FakeView(2, clients), schedule_(schedule), a_(a) {}

 private:
  [[nodiscard]] Vector place(std::size_t /*k*/) const override {
    double left = 1;
    for (Round t = 0; t < done(); ++t) left *= 1 - schedule_.step_at(t) * a_;
    return {4 * (1 - left), -2 * (1 - left)};
  }
  StepSchedule schedule_;
  double a_;
};

PathFigures found(const StepSchedule& schedule, Round rounds, double a) {
  const Layout layout(2, world().size());
  const auto count = static_cast<std::size_t>(layout.count(world().rank()));
  Contracting view(schedule, a, count);
  ModelPath path(schedule, rounds, layout.first(world().rank()));
  for (Round t = 0; t <= rounds && count > 0; ++t) {
    view.go(t);
    path.after(view);
  }
  Agreement agreement(world());
  return path.figures(agreement);
}

TEST(ModelPath, ShowsTheContraction) {
  const StepSchedule schedule = falling(400);
  for (const double a : {0.02, 0.05, 0.15}) EXPECT_NEAR(found(schedule, 400, a).contraction, a, 0.05 * a) << a;
  EXPECT_EQ(found(schedule, 400, 0).contraction, 0) << "a model that has not moved";
  const double s = schedule.steps_between(0, 400);
  EXPECT_NEAR(found(schedule, 400, 2).contraction, -2 / s * std::log(1 / 0.99 - 1), 1e-9)
      << "a start that is forgotten";
}

TEST(ModelPath, ShowsHowFarTheModelHasCome) {
  const StepSchedule schedule = falling(400);
  const double s = schedule.steps_between(0, 400);
  for (const double way : {0.3, 1.0, 2.0, 3.0}) {
    const PathFigures figures = found(schedule, 400, way / s);
    EXPECT_NEAR(figures.covered, 1 - std::exp(-way), 0.02) << way;
    EXPECT_GT(figures.steadiness, 0.8) << way;  // 0.98 of moves of one length; these fall by e^{-way/2}
  }
  EXPECT_EQ(found(schedule, 12, 0.5).steadiness, 0) << "too few rounds";
}

/// Its mark half-way stands where the shorter run was half-way.
TEST(ModelPath, SaysNothingOfARunThatWasGivenMoreRounds) {
  StepSchedule even;
  even.step_power = 0;
  const Layout layout(world().size(), world().size());
  const Client first = layout.first(world().rank());
  Agreement agreement(world());
  for (const Round rounds : {100, 400}) {
    Contracting view(even, 0.001, 1);
    const auto play = [&view](ModelPath& path, Round begin, Round end) {
      for (Round t = begin; t <= end; ++t) {
        view.go(t);
        path.after(view);
      }
    };
    ModelPath before(even, 100, first);
    play(before, 0, 70);
    Snapshot kept;
    before.persist(kept);
    Snapshot read(kept.content());
    ModelPath path(even, rounds, first);
    path.persist(read);
    play(path, 71, rounds);
    const PathFigures figures = path.figures(agreement);
    EXPECT_EQ(figures.covered < 0.2, rounds == 100) << figures.covered;
    EXPECT_EQ(figures.contraction > 0, rounds == 100) << figures.contraction;
  }
}

/// A client whose model noise alone moves.
class Wandering final : public FakeView {
 public:
  Wandering(std::uint64_t seed, std::size_t clients) : FakeView(1, clients), random_(seed) {}
  void move() { at_ += std::normal_distribution<double>()(random_); }

 private:
  [[nodiscard]] Vector place(std::size_t /*k*/) const override { return {at_}; }
  std::mt19937_64 random_;
  double at_ = 0;
};

TEST(ModelPath, IsNotSteadyByNoise) {
  StepSchedule even;
  even.step_power = 0;
  const Layout layout(world().size(), world().size());
  Agreement agreement(world());
  int steady = 0;
  double mean = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Wandering view(seed, 1);
    ModelPath path(even, 64, layout.first(world().rank()));
    for (Round t = 0; t <= 64; ++t) {
      view.go(t);
      path.after(view);
      view.move();
    }
    const double steadiness = path.figures(agreement).steadiness;
    mean += steadiness / 300;
    steady += steadiness > 0.6 ? 1 : 0;
  }
  EXPECT_NEAR(mean, 1.0 / ModelPath::parts, 0.02);
  EXPECT_LE(steady, 2);
}

double sum_of_products(const StepSchedule& schedule, Round rounds, const RoundSet& played, double a) {
  double sum = 0;
  played.for_each([&](Round t) {
    double product = schedule.step_at(t);
    for (Round s = t + 1; s < rounds; ++s) product *= 1 - schedule.step_at(s) * a;
    sum += product;
  });
  return sum;
}

TEST(Influence, IsThatOfTheRoundsPlayed) {
  const Round rounds = 300;
  const StepSchedule schedule = falling(rounds);
  RoundSet some;
  for (Round t = 0; t < 120; ++t) {
    if (t < 40 || t >= 70) some.add(t);
  }
  for (const double a : {0.0, 0.01, 0.1}) {
    EXPECT_EQ(influence(schedule, rounds, RoundSet::first(rounds), a), 1);
    EXPECT_EQ(influence(schedule, rounds, RoundSet(), a), 0);
    const double right =
        sum_of_products(schedule, rounds, some, a) / sum_of_products(schedule, rounds, RoundSet::first(rounds), a);
    EXPECT_NEAR(influence(schedule, rounds, some, a), right, 0.02 * right + 1e-3) << a;
  }
}

}  // namespace starling::model_path_test
