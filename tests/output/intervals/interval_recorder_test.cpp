/// The recorded spreads of a path, their rounds, and the intervals made of them.
#include "output/intervals/interval_recorder.hpp"

#include <cmath>

#include "core/random.hpp"
#include "output/fake_view.hpp"
#include "support/testing.hpp"

namespace starling::interval_recorder_test {

constexpr std::size_t d = 2;

/// θ_i of local client k: about k + 1.
Vector theta_of(std::size_t k, Round i) {
  AddressedRandom random(2, Purpose::experiment, k, static_cast<std::uint64_t>(i));
  return {static_cast<double>(k) + 1 + random.normal(), -random.uniform()};
}

/// Shows models of some clients after so many steps.
class Steps final : public testing_support::FakeView {
 public:
  explicit Steps(std::size_t clients, bool moves = true) : FakeView(d, clients), moves_(moves) {}

 private:
  [[nodiscard]] Vector place(std::size_t k) const override { return theta_of(k, moves_ ? done() : 0); }
  bool moves_;
};

/// Shows it steps 0, …, n, and the last one again at the end.
void watch(IntervalRecorder& recorder, Steps& view, Round n) {
  for (Round i = 0; i <= n; ++i) {
    view.go(i);
    recorder.after(view);
  }
  recorder.finish(view);
}

PathMethods methods_of(Round steps, Round burn_in = 0, std::optional<int> batch_means = std::nullopt) {
  PathMethods methods;
  methods.steps = steps;
  methods.burn_in = burn_in;
  methods.batch_means = batch_means;
  return methods;
}

std::vector<Round> steps_noted(const IntervalRecorder& recorder) {
  std::vector<Round> steps;
  for (const PathAt& at : recorder.noted()) steps.push_back(at.steps);
  return steps;
}

std::vector<std::string> names_of(const std::vector<MethodSpread>& methods) {
  std::vector<std::string> names;
  for (const MethodSpread& method : methods) names.push_back(method.method);
  return names;
}

using Rounds = std::vector<Round>;
using Names = std::vector<std::string>;

TEST(IntervalRecorder, AveragesWhatComesAfterTheBurnIn) {
  constexpr Round n = 50;
  for (const Round burn_in : {0, 1, 20, 48}) {
    IntervalRecorder recorder(methods_of(n, burn_in), 2, {0, 1}, d, RecordRounds(10));
    Steps view(2);
    watch(recorder, view, n);
    for (const std::size_t k : {0U, 1U}) {
      RandomScaling path(d);
      for (Round i = burn_in + 1; i <= n; ++i) path.add(theta_of(k, i));
      EXPECT_EQ(recorder.estimate(k, view), path.mean());
      const std::vector<MethodSpread> spreads = recorder.spreads(k);
      ASSERT_EQ(names_of(spreads), Names{"random-scaling"});
      EXPECT_EQ(spreads[0].spread.estimate, path.mean());
      EXPECT_EQ(spreads[0].spread.spread, path.spread().spread);
      EXPECT_EQ(recorder.joint_statistic(k, {0}), path.joint_statistic({0}));
      EXPECT_EQ(recorder.noted().back().clients[k][0].spread.spread, path.spread().spread);
    }
  }
}

// Every statistic is that of the images' path.
TEST(IntervalRecorder, SeesThroughAMap) {
  Columns rows(d, d);
  rows[0][0] = 3;
  rows[1][0] = -1;
  rows[1][1] = 2;
  const AffineMap map(rows, Vector{0, 7});
  IntervalRecorder recorder(methods_of(200, 0, 4), 1, {0}, d, RecordRounds(10));
  recorder.see_through(map);
  RandomScaling path(d);
  PathBlocks blocks(d);
  Steps view(1);
  watch(recorder, view, 200);
  for (Round i = 1; i <= 200; ++i) {
    Vector image(d);
    map.apply(theta_of(0, i), image);
    path.add(image);
    blocks.add(image);
  }
  EXPECT_EQ(recorder.estimate(0, view), path.mean());
  EXPECT_EQ(recorder.spreads(0)[0].spread.spread, path.spread().spread);
  ASSERT_TRUE(recorder.settling(0));
  EXPECT_EQ(recorder.settling(0)->effective_steps, settling_of(blocks)->effective_steps);
}

TEST(IntervalRecorder, HasTheLastModelUntilTheBurnInIsOver) {
  IntervalRecorder recorder(methods_of(100, 30, 4), 1, {0}, d, RecordRounds(5));
  Steps view(1);
  watch(recorder, view, 30);
  EXPECT_EQ(recorder.estimate(0, view), theta_of(0, 30));
  EXPECT_TRUE(recorder.noted().empty());
  EXPECT_TRUE(recorder.spreads(0).empty());
  EXPECT_FALSE(recorder.joint_statistic(0, {0}));
  view.go(31);
  recorder.after(view);
  EXPECT_EQ(recorder.estimate(0, view), theta_of(0, 31));
  EXPECT_FALSE(recorder.joint_statistic(0, {0}));
}

// Whatever the burn-in, so that runs with several can be laid beside each other.
TEST(IntervalRecorder, NotesMultiplesAndTheLastStep) {
  const auto noted = [](Round n, Round burn_in, std::optional<Round> every) {
    IntervalRecorder recorder(methods_of(n, burn_in), 1, {0}, d, RecordRounds(every));
    Steps view(1);
    watch(recorder, view, n);
    return steps_noted(recorder);
  };
  EXPECT_EQ(noted(18, 0, 4), (Rounds{4, 8, 12, 16, 18}));
  EXPECT_EQ(noted(18, 4, 4), (Rounds{8, 12, 16, 18}));
  EXPECT_EQ(noted(16, 0, 4), (Rounds{4, 8, 12, 16}));
  EXPECT_EQ(noted(3, 0, 4), (Rounds{3}));
  EXPECT_EQ(noted(14, 0, std::nullopt), (Rounds{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14}));
  // A burn-in that is no multiple.
  EXPECT_EQ(noted(18, 5, 4), (Rounds{8, 12, 16, 18}));
}

TEST(IntervalRecorder, NotesThoseWhoAreToBeNoted) {
  IntervalRecorder recorder(methods_of(6), 3, {2}, d, RecordRounds(3));
  Steps view(3);
  watch(recorder, view, 6);
  ASSERT_EQ(steps_noted(recorder), (Rounds{3, 6}));
  for (const PathAt& at : recorder.noted()) {
    ASSERT_EQ(at.clients.size(), 1U);
    RandomScaling path(d);
    for (Round i = 1; i <= at.steps; ++i) path.add(theta_of(2, i));
    EXPECT_EQ(at.clients[0][0].spread.estimate, path.mean());
  }
}

TEST(IntervalRecorder, HasBatchMeansOnceTheRunIsWhole) {
  constexpr Round n = 2000;
  for (const Round burn_in : {0, 500}) {
    IntervalRecorder recorder(methods_of(n, burn_in, 8), 1, {0}, d, RecordRounds(100));
    Steps view(1);
    watch(recorder, view, n);
    BatchMeans batches(d, 8, 0.51, n - burn_in);
    for (Round i = burn_in + 1; i <= n; ++i) batches.add(theta_of(0, i));
    for (const PathAt& at : recorder.noted()) {
      const Names expected = at.steps == n ? Names{"random-scaling", "batch-means"} : Names{"random-scaling"};
      EXPECT_EQ(names_of(at.clients[0]), expected) << at.steps;
    }
    const std::vector<MethodSpread> spreads = recorder.spreads(0);
    ASSERT_EQ(spreads.size(), 2U);
    EXPECT_EQ(spreads[1].spread.spread, batches.spread()->spread);
    EXPECT_EQ(spreads[1].spread.estimate, spreads[0].spread.estimate);
  }
}

TEST(IntervalRecorder, HasNoBatchMeansOfARunThatStoppedEarly) {
  PathMethods methods = methods_of(2000, 0, 8);
  methods.random_scaling = false;
  IntervalRecorder recorder(methods, 1, {0}, d, RecordRounds(100));
  Steps view(1);
  watch(recorder, view, 1999);
  EXPECT_TRUE(recorder.spreads(0).empty());
}

TEST(IntervalsOf, AreAsWideAsTheirMethodSays) {
  const std::vector<MethodSpread> methods{{"random-scaling", {{1, -2}, {0.1, 0.5}}},
                                          {"batch-means", {{1, -2}, {0.2, 0.25}}}};
  const std::vector<Interval> intervals = intervals_of(methods, {"x1", "(intercept)"}, {0.9, 0.95}, 3);
  ASSERT_EQ(intervals.size(), 8U);
  // z^R of the page, and the normal's quantiles.
  const double quantiles[] = {5.323, 6.747, 1.644854, 1.959964};
  for (std::size_t i = 0; i < 8; ++i) {
    const Interval& interval = intervals[i];
    const Spread& spread = methods[i / 4].spread;
    const std::size_t j = i % 2;
    EXPECT_EQ(interval.name, j == 0 ? "x1" : "(intercept)");
    EXPECT_EQ(interval.method, methods[i / 4].method);
    EXPECT_EQ(interval.level, i / 2 % 2 == 0 ? 0.9 : 0.95);
    EXPECT_EQ(interval.client, 3);
    EXPECT_EQ(interval.estimate, spread.estimate[j]);
    const double half = quantiles[i / 2] * spread.spread[j];
    EXPECT_NEAR(interval.low, spread.estimate[j] - half, 1e-3 * half);
    EXPECT_NEAR(interval.high, spread.estimate[j] + half, 1e-3 * half);
    if (i < 4) {
      EXPECT_TRUE(std::isnan(interval.standard_error));  // random scaling has none
    } else {
      EXPECT_EQ(interval.standard_error, spread.spread[j]);
    }
  }
}

// A path that stands still says nothing of how sure it is; no more does a spread that is infinite.
TEST(IntervalsOf, AreNoneWhereTheSpreadIsZeroOrUnknown) {
  IntervalRecorder recorder(methods_of(200, 0, 2), 1, {0}, d, RecordRounds(100));
  Steps still(1, false);
  watch(recorder, still, 200);
  std::vector<MethodSpread> methods = recorder.spreads(0);
  ASSERT_EQ(methods.size(), 2U);
  methods.push_back({"plug-in", {{1, 2}, {std::numeric_limits<double>::infinity(), std::nan("")}}});
  const std::vector<Interval> intervals = intervals_of(methods, {"a", "b"}, {0.95}, std::nullopt);
  ASSERT_EQ(intervals.size(), 6U);
  for (const Interval& interval : intervals) {
    EXPECT_TRUE(std::isfinite(interval.estimate)) << interval.method;
    EXPECT_TRUE(std::isnan(interval.low)) << interval.method;
    EXPECT_TRUE(std::isnan(interval.high)) << interval.method;
    EXPECT_TRUE(std::isnan(interval.standard_error)) << interval.method;
    EXPECT_FALSE(excludes_zero(interval)) << interval.method;
    EXPECT_FALSE(interval.client);
  }
  EXPECT_EQ(intervals[0].estimate, theta_of(0, 0)[0]);
}

}  // namespace starling::interval_recorder_test
