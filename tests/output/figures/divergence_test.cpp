#include "output/figures/divergence.hpp"

#include <cmath>
#include <gmock/gmock.h>

namespace starling::divergence_test {

using testing::HasSubstr;

constexpr double unknown = NetworkFigures::unknown;

/// A run of 100 rounds with these losses at the start, over the first round, and at the end.
std::string note(double test_at_start, double first_round, double test_at_end, double last, bool classifies,
                 double of_a_round = 5, double of_test = 10'000, const Vector& model = {1, 2}) {
  std::vector<NetworkFigures> history(3);
  history[0].test_loss = test_at_start;
  history[1].done = 1;
  history[1].loss = first_round;
  history[2].done = 100;
  history[2].loss = last;
  history[2].test_loss = test_at_end;
  return note_of_divergence({history, last, unknown, classifies, of_a_round, of_test, model, "Turn back"}).value_or("");
}

TEST(Divergence, RunsThatLearnSayNothing) {
  EXPECT_EQ(note(0.693, 0.693, 0.4, 0.5, true), "");
  EXPECT_EQ(note(unknown, unknown, unknown, unknown, true), "") << "all is withheld";
  EXPECT_EQ(note(0.693, unknown, 0.7, unknown, true), "") << "within chance on 10,000 records";
  EXPECT_EQ(note(unknown, 0.693, unknown, 1.0, true), "") << "within chance over rounds of 5 records";
  EXPECT_EQ(note(unknown, 1.0, unknown, 4, false, 500), "") << "later records may be harder";
  EXPECT_EQ(note(unknown, 0.0, unknown, 1, true), "");
  EXPECT_EQ(note(unknown, 1.0, unknown, 0.1, false, 5, 0, {3e8}), "") << "features of a scale of 1e-8";
}

TEST(Divergence, RunsThatEndWorseThanTheirStartSaySo) {
  EXPECT_THAT(note(0.693, unknown, 0.73, unknown, true), HasSubstr("the loss on --test is 0.73, above the 0.693"));
  EXPECT_THAT(note(unknown, 0.693, unknown, 2.0, true), HasSubstr("over the last tenth of the rounds is 2, above"));
  EXPECT_THAT(note(unknown, 0.693, unknown, 1.0, true, 500), HasSubstr("worse than one that does not move"));
  EXPECT_THAT(note(unknown, 1.0, unknown, 7e14, false), HasSubstr("is 7e+14, above the 1"));
  EXPECT_THAT(note(unknown, 1.0, unknown, 50, false), HasSubstr("unless later records are harder"));
  EXPECT_THAT(note(unknown, 1.0, unknown, INFINITY, false), HasSubstr("inf"));
}

TEST(Divergence, FinalModelsAreJudgedWhereTheyAreOthersThanThoseOfTheLastRound) {
  std::vector<NetworkFigures> history(3);
  history[0].test_loss = history[1].loss = 0.693;
  history[1].done = 1;
  history[2].done = 100;
  history[2].test_loss = history[2].loss = 2;
  const auto note_of = [&history](double final_loss) {
    return note_of_divergence({history, 2, final_loss, true, 5, 10'000, Vector{1}, "Turn back"}).value_or("");
  };
  EXPECT_EQ(note_of(0.5), "");
  EXPECT_THAT(note_of(3), HasSubstr("the loss on --test is 3, above the 0.693"));
}

// Losses that are withheld are not asked for; models are released.
TEST(Divergence, ModelsThatGrowAreToldWithoutLosses) {
  EXPECT_THAT(note(unknown, unknown, unknown, unknown, false, 5, 0, {3e9, 4e9}),
              HasSubstr("a norm of 5e+09: steps are too long for these records, unless features are as small as that. "
                        "Turn back"));
  EXPECT_THAT(note(unknown, unknown, unknown, unknown, false, 5, 0, {NAN}), HasSubstr("norm of nan"));
}

}  // namespace starling::divergence_test
