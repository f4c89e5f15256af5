/// A privacy loss as odds.
#include "privacy/statement/odds.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <limits>

namespace starling::odds_test {

using testing::HasSubstr;

std::string words(double epsilon, double delta) {
  PrivacyLoss loss;
  loss.epsilon = epsilon;
  loss.delta = delta;
  std::string text;
  for (const std::string& sentence : odds_in_words(loss, "person")) text += sentence + "\n";
  return text;
}

// Bayes' rule, with odds that grow by e^ε.
TEST(Odds, GrowByTheExponential) {
  for (const double before : {0.0, 0.01, 0.5, 0.9, 1.0}) {
    for (const double epsilon : {-3.0, 0.0, 0.1, 2.0, 30.0}) {
      const double after = most_certain(before, epsilon);
      EXPECT_NEAR(after * (1 - before), (1 - after) * before * std::exp(epsilon), 1e-12 * std::exp(std::abs(epsilon)));
    }
  }
  EXPECT_DOUBLE_EQ(most_certain(1, 800), 1);
}

TEST(Odds, AreRoundedUpwardsAndReachNoCertainty) {
  const std::vector<std::pair<double, const char*>> rows{
      {0.5, "50 %"},           {0.7310585786, "73.2 %"},    {0.99966, "99.97 %"},
      {0.999999, "99.9999 %"}, {1 - 1e-12, "nearly 100 %"}, {1, "100 %"}};
  for (const auto& [probability, text] : rows) EXPECT_EQ(percent_text(probability), text);
}

TEST(Odds, SayWhatABoundIsWorth) {
  EXPECT_THAT(words(1, 0), HasSubstr("one person"));
  EXPECT_THAT(words(1, 0), HasSubstr("at most 2.72 to 1: a certainty of 73.2 %."));
  EXPECT_THAT(words(1, 0), Not(HasSubstr("may fail")));
  EXPECT_THAT(words(1, 1e-5), HasSubstr("with a probability of about 1 in 100,000."));
  EXPECT_THAT(words(1, 3e-4), HasSubstr("1 in 3,333."));
  EXPECT_THAT(words(9, 0), HasSubstr("at most 8104 to 1"));
  EXPECT_THAT(words(9, 0), HasSubstr("hardly anything"));
  EXPECT_THAT(words(std::numeric_limits<double>::infinity(), 0), HasSubstr("No bound holds"));
}

TEST(Odds, OfAClientAreFiguresOnlyWhereTheyAreOfUse) {
  PrivacyLoss loss;
  loss.epsilon = 77009;
  EXPECT_THAT(client_in_words(loss), HasSubstr("no bound of use"));
  loss.epsilon = 2;
  EXPECT_THAT(client_in_words(loss), HasSubstr("at most 7.39 to 1"));
}

}  // namespace starling::odds_test
