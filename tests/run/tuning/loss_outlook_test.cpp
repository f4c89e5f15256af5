#include "run/tuning/loss_outlook.hpp"

#include <limits>
#include <string>
#include <vector>

#include "support/testing.hpp"

namespace starling::loss_outlook_test {

using namespace testing_support;

/// Runs of jobs/tables.py and jobs/learning.py: public numbers, and the points that they lost beside a linear model
/// without noise, at most and of a typical run. A `most` of 0 is that of a run whose loss cannot be foretold.
struct Measured {
  std::string data;
  LossFacts facts;
  double lost;
};

LossFacts classes(double signal, double records, double kept = 1, double scores = 1) {
  return {.signal_to_noise = signal, .kept = kept, .records = records, .scores = scores};
}

LossFacts numbers(double signal, double records, double kept = 1) {
  return {.signal_to_noise = signal, .kept = kept, .records = records, .classifies = false};
}

// Each is the worst of three runs or more.
const std::vector<Measured> told{
    {"spam at 1", classes(4.9, 3680), 3.1},
    {"credit at 0.3", classes(2.7, 3231), 14.9},
    {"women at 1", classes(4.4, 602), 10.7},
    {"letters at 0.3", classes(18.3, 16000), 3.8},
    {"attrition at 3", classes(4.09, 1176), 7.8},
    {"isotropic at 0.1", classes(3.2, 20000), 12},
    {"satellite at 1", classes(1.6, 5148, 1, 6), 5.3},
    {"vehicles at 8", classes(4.35, 677, 1, 4), 15.5},
    {"ames at 1", numbers(4.59, 2344), 12.3},
    {"houses at 8", numbers(13.5, 436), 15},
    {"chicago at 3", numbers(33.4, 4558), 3},
    {"diamonds at 3", numbers(947, 43152), 0},
    {"credit without noise", classes(std::numeric_limits<double>::infinity(), 3231), 1},
};

TEST(LossOutlook, PromisesNoLessThanWhatRunsLost) {
  for (const Measured& each : told) {
    const std::optional<double> most = most_lost(each.facts);
    ASSERT_TRUE(most) << each.data;
    EXPECT_GE(*most, each.lost) << each.data;
    EXPECT_THAT(loss_outlook(each.facts), HasSubstr("expect to lose at most")) << each.data;
  }
}

TEST(LossOutlook, PromisesLittleWhereNoiseIsLittle) {
  EXPECT_LE(*most_lost(classes(50, 30000)), 3);
  EXPECT_LE(*most_lost(numbers(50, 30000)), 4);
}

TEST(LossOutlook, SaysWhatCannotBeForetold) {
  EXPECT_EQ(most_lost(classes(0.3, 300)), std::nullopt);
  EXPECT_THAT(loss_outlook(classes(0.3, 300)), HasSubstr("cannot be foretold: the models may be no better"));
  EXPECT_EQ(most_lost(classes(1.49, 614, 0.25)), std::nullopt) << "pima, of which most is dropped, has lost 38 points";
  EXPECT_EQ(most_lost(classes(2, 300, 0)), std::nullopt);
  EXPECT_THAT(loss_outlook(classes(2, 300, 0)), HasSubstr("expect a constant answer"));
  EXPECT_EQ(most_lost(numbers(1.8, 404, 0.31)), std::nullopt) << "boston has lost 72 points";
  LossFacts other_units = classes(500, 30000);
  other_units.unknown = "features may have units of their own";
  EXPECT_EQ(most_lost(other_units), std::nullopt);
  EXPECT_THAT(loss_outlook(other_units), HasSubstr("cannot be foretold: features may have units of their own"));
}

TEST(LossOutlook, NamesWhatWouldHelpMost) {
  EXPECT_THAT(loss_outlook(classes(5, 30000)), HasSubstr("What would help most is twice the price: at most "));
  EXPECT_THAT(loss_outlook(classes(40, 300)), HasSubstr("is twice the records of each client: at most"))
      << "chance among few records is more than noise";
  LossFacts dropped = classes(3, 614, 0.4);
  dropped.feature_share = 0.5;
  EXPECT_THAT(loss_outlook(dropped), HasSubstr("for 40 % of the features"));
  EXPECT_THAT(loss_outlook(dropped), HasSubstr("What would help most is --standardise with public constants: at most"));
  EXPECT_THAT(loss_outlook(dropped), HasSubstr(". With --ranges none is dropped: expect to lose at most"));
  dropped.signal_to_noise = 0.1;
  dropped.kept = 0;
  EXPECT_THAT(loss_outlook(dropped), HasSubstr(". With --ranges none is dropped: what is lost cannot be foretold"));
  dropped.kept = 1;
  EXPECT_THAT(loss_outlook(dropped), Not(HasSubstr("--ranges")));
  LossFacts many = classes(0.5, 30000);
  many.hiding = 38;
  EXPECT_THAT(loss_outlook(many), HasSubstr("What would help most is --trust pairs: at most 13 points"));
  EXPECT_THAT(loss_outlook(classes(0.1, 300)), Not(HasSubstr("at most"))) << "twice the price would not do";
}

TEST(LossOutlook, RoundsPromisesUp) {
  for (const LossFacts& facts : {classes(7.3, 5000), classes(2.1, 900), numbers(11, 700)}) {
    const double most = *most_lost(facts);
    EXPECT_NEAR(most * 10, std::round(most * 10), 1e-9);
    LossFacts more = facts;
    more.signal_to_noise *= 1.0001;
    EXPECT_LE(*most_lost(more), most);
  }
}

}  // namespace starling::loss_outlook_test
