#include "report/end_checks.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gmock/gmock.h>
#include <set>
#include <string>
#include <vector>

#include "output/figures/effective_weights.hpp"
#include "output/figures/model_path.hpp"
#include "output/figures/test_metrics.hpp"
#include "output/intervals/interval.hpp"
#include "protocol/renewable/online_renewable.hpp"

namespace starling::end_checks_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A run over a graph that no check finds fault with.
Summary good_run(const std::string& command) {
  Summary summary;
  summary.command = command;
  summary.clients = 5;
  summary.learned = true;
  summary.classifies = true;
  summary.aggregated = command != "omd" && command != "infer";
  summary.part<FinalModels>().mean = {3, 4};
  summary.part<Consensus>().error = 0.01;
  summary.part<Consensus>().left = 1e-6;
  summary.part<RunScores>().progressive = Score{60, 80, 100, 0};
  summary.part<RunScores>().test = Score{30, 90, 100};
  summary.part<RunScores>().larger_class = 0.6;
  summary.add(EffectiveWeights());
  summary.add(BatchScores{25, 1});
  summary.part<RunIntervals>().intervals = {{"intercept", 1, 0.1, 0.8, 1.2, 0.95, "wald"}};
  summary.part<RunIntervals>().settling.paths = {{std::nullopt, true, 100, 34, "a", 1, 4.9, "b"}};
  summary.add(MessageBits());
  summary.add(PathFigures{0.1, 0.99, 0.9});
  return summary;
}

struct Case {
  std::string check;
  std::string command;
  std::function<void(Summary&)> spoil;
  std::string says;
  bool protects = false;
};

std::vector<NetworkFigures> history_with(double consensus_at_start) {
  std::vector<NetworkFigures> history(1);
  history[0].consensus_error = consensus_at_start;
  return history;
}

std::vector<std::string> notes_of(const Summary& summary, bool protects = false, bool scaled = false) {
  const std::vector<NetworkFigures> history = history_with(100);
  return notes_at_end({summary, history, 50, 100, protects, scaled, true, "Turn back"});
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"divergence", "fedavg",
       [](Summary& s) {
         s.part<FinalModels>().mean = {3e9, 4e9};
       },
       "a norm of 5e+09"},
      {"constant class", "omd", [](Summary& s) { s.part<RunScores>().test->correct = 60; },
       "than a constant answer (60.00 %)"},
      {"constant class", "vertical", [](Summary& s) { s.part<RunScores>().test->correct = 50; },
       "no better on --test than a constant answer (60.00 %)"},
      {"constant class", "renewable", [](Summary& s) { s.part<RunScores>().test->correct = 69; },
       "hardly better on --test than a constant answer (60.00 %): give features one scale"},
      {"constant number", "omd",
       [](Summary& s) {
         s.classifies = false;
         s.part<RunScores>().larger_class.reset();
         s.add(TestMetrics{100, std::nullopt, RegressionMetrics{-15.53, 4, 3}});
       },
       "the mean of its labels (R2 = -1.55e+03 %)"},
      {"constant number", "omd",
       [](Summary& s) {
         s.classifies = false;
         s.part<RunScores>().larger_class.reset();
         s.part<RunScores>().constant_loss = 0.1;
         s.part<RunScores>().test->loss = 10.1;
         s.add(TestMetrics{100, std::nullopt, RegressionMetrics{0.5, 4, 3}});
       },
       "no better on --test than the best constant answer (a mean loss of 0.101, and of 0.1)"},
      {"unseen number", "fedavg",
       [](Summary& s) {
         s.classifies = false;
         s.part<RunScores>().progressive.reset();
         s.part<RunScores>().test.reset();
         s.part<RunScores>().larger_class.reset();
       },
       "nothing shows whether the model is better", true},
      {"records out of range", "renewable", [](Summary& s) { s.part<RunScores>().progressive->out_of_range = 3; },
       "3 times a record"},
      {"weights", "infer",
       [](Summary& s) {
         s.part<EffectiveWeights>().named = 1;
         s.part<EffectiveWeights>().lowest = {{2, 0.5}};
       },
       "client 2 counted for 0.5"},
      {"mixing time", "omd", [](Summary& s) { s.part<Consensus>().left = 0.98; }, "leave 98 % of a disagreement"},
      {"mixing time", "infer", [](Summary& s) { s.part<Consensus>().left = 0.06; }, "leave 6 % of a disagreement"},
      {"averages", "omd",
       [](Summary& s) {
         s.learned = false;
         s.part<Consensus>().error = 99;
       },
       "still lie 99.5 % as far from their mean"},
      {"agreement", "omd", [](Summary& s) { s.part<Consensus>().error = 4; }, "mean model is 0.4 times its norm"},
      {"agreement", "omd", [](Summary& s) { s.part<Consensus>().error = 4; }, "Noise is part of that", true},
      {"arrival", "omd",
       [](Summary& s) {
         s.add(PathFigures{0.01, 0.4, 0.9});
       },
       "has come 40 % of the way"},
      {"arrival", "fedavg",
       [](Summary& s) {
         s.add(PathFigures{0.01, 0.8, 0.7});
       },
       "raise --step"},
      {"arrival by curvature", "renewable",
       [](Summary& s) {
         s.add(PathFigures{0.1, 0.5, 0.9});
       },
       "--curvature-model"},
      {"settling", "infer", [](Summary& s) { s.part<RunIntervals>().settling.knows_scales = false; },
       "the scales of the features are unknown"},
      {"settling", "infer",
       [](Summary& s) {
         s.part<RunIntervals>().settling.paths = {{std::nullopt, false, 10, 34, "a", 1, 4.9, "b"}};
       },
       "mostly 'a'"},
      {"quantiser", "vertical", [](Summary& s) { s.part<MessageBits>().one_level = 0.4; },
       "in 40 % of the parties' messages"},
      {"outlier", "vertical", [](Summary& s) { s.part<MessageBits>().jump = 120; }, "was 120 times as large"},
      {"information", "renewable", [](Summary& s) { s.part<BatchScores>().information = 1.3; },
       "a batch tells 1.3 of its intercept"},
      {"second look", "renewable", [](Summary& s) { s.part<BatchScores>().moved = 1.7; },
       "moved a coefficient by 1.7 of its standard errors"},
      {"scores", "renewable", [](Summary& s) { s.part<BatchScores>().drift = 40; }, "add up to 40 standard errors"}};
  return all;
}

TEST(EndChecks, SayNothingOfGoodRuns) {
  for (const char* command : {"omd", "fedavg", "renewable", "infer", "vertical"}) {
    EXPECT_THAT(notes_of(good_run(command)), IsEmpty()) << command;
  }
}

TEST(EndChecks, SayWhatIsWrong) {
  for (const Case& each : cases()) {
    Summary summary = good_run(each.command);
    each.spoil(summary);
    EXPECT_THAT(notes_of(summary, each.protects), ElementsAre(HasSubstr(each.says))) << each.check;
  }
}

TEST(EndChecks, HaveACaseEach) {
  std::set<std::string> tested;
  for (const Case& each : cases()) tested.insert(each.check);
  for (const EndCheck& check : end_checks()) EXPECT_TRUE(tested.contains(check.name)) << check.name;
  EXPECT_EQ(tested.size(), end_checks().size());
}

TEST(EndChecks, LookAtTheRunsOfTheirCommandsAlone) {
  Summary summary = good_run("fedavg");
  summary.part<BatchScores>().drift = 40;
  summary.part<Consensus>().left = 1;
  EXPECT_THAT(notes_of(summary), IsEmpty());
}

/// What noise moves has no direction, and says nothing of how far the model has come.
TEST(EndChecks, TakeNoNoiseForAModelThatHasNotArrived) {
  Summary summary = good_run("omd");
  summary.add(PathFigures{0.01, 0.1, 0.3});
  EXPECT_THAT(notes_of(summary), IsEmpty());
}

TEST(EndChecks, NameScalesWhereTheyAreOpen) {
  Summary summary = good_run("infer");
  summary.part<RunIntervals>().settling.knows_scales = false;
  EXPECT_THAT(notes_of(summary, true, false), ElementsAre(HasSubstr("--ranges")));
  EXPECT_THAT(notes_of(summary, true, true), ElementsAre(Not(HasSubstr("--ranges"))));
}

/// What a run withholds is not there to be looked at.
TEST(EndChecks, SayNothingOfWhatIsWithheld) {
  Summary summary = good_run("omd");
  summary.part<RunScores>().progressive.reset();
  summary.part<RunScores>().test.reset();
  summary.part<RunScores>().larger_class.reset();
  summary.part<Consensus>().left.reset();
  summary.add(EffectiveWeights());
  EXPECT_THAT(notes_of(summary), IsEmpty());
}

}  // namespace starling::end_checks_test
