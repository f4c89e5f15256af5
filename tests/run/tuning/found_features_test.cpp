#include "run/tuning/releases/found_features.hpp"

#include <string>

#include "support/testing.hpp"

namespace starling::found_features_test {

using namespace testing_support;

using Kind = FeatureSight::Kind;
using Source = FoundFeatures::Source;

constexpr StandardisedUse of_answers{.infers = false, .clips = true};
constexpr StandardisedUse of_coefficients{.infers = true, .clips = false};

/// Four columns of a source: a flag of a category stands in column 1.
FoundFeatures found_in_histograms() {
  FoundFeatures found;
  found.columns = {.source_columns = 4,
                   .features = {0, 2, 3},
                   .column_of = {0, 2, 3},
                   .ranges = std::vector<Standardisation>(3),
                   .label_range = {},
                   .names = {"age", "dose", "weight"}};
  found.sights = {
      {Kind::values, {40, 12}, {0, 100}, ValueRange{10, 70}}, {Kind::nothing}, {Kind::zeros, {}, {}, {}, 0.02}};
  return found;
}

TEST(FoundFeatures, AnswersAreOfClippedFeatures) {
  EXPECT_EQ(standardise_text(found_in_histograms(), of_answers), "values:40/12/5,0/1,drop,0/9.53674e-07/5");
}

TEST(FoundFeatures, CoefficientsKeepTheValuesThatAreSeen) {
  EXPECT_EQ(standardise_text(found_in_histograms(), of_coefficients), "values:40/12,0/1,drop,0/0.141421");
}

TEST(FoundFeatures, AValueThatIsThereIsNotClipped) {
  FoundFeatures found = found_in_histograms();
  found.sights[0].known = ValueRange{10, 130};
  EXPECT_EQ(standardise_text(found, of_answers).substr(0, 14), "values:40/18/5");
}

TEST(FoundFeatures, MomentsInARangeAreToldInUnitsOfTheSource) {
  FoundFeatures found = found_in_histograms();
  found.columns.ranges[0] = {50, 50, 1};  // 0 … 100
  found.sights[0] = {Kind::values, {-0.2, 0.25}};
  found.columns.label_range = {1000, 500, 1};
  found.label = FeatureSight{Kind::values, {0.1, 0.2}};
  EXPECT_EQ(standardise_text(found, of_coefficients), "values:40/12.5/4.8,0/1,drop,0/0.141421,label=1050/100");
}

TEST(FoundFeatures, DroppedColumnsAreNamed) {
  const std::string of_some = note_of_dropped(found_in_histograms(), false);
  EXPECT_NE(of_some.find("1 of 3 features are dropped (dose)"), std::string::npos) << of_some;
  FoundFeatures nothing = found_in_histograms();
  nothing.sights.assign(3, {});
  EXPECT_EQ(note_of_dropped(nothing, false).substr(0, 31), "no feature is learned from: rec");
  EXPECT_EQ(nothing.kept(), 1U) << "the flag of the category stays";
  FoundFeatures all = found_in_histograms();
  all.sights[1] = all.sights[0];
  EXPECT_EQ(note_of_dropped(all, false), "");
}

TEST(FoundFeatures, NoMoreThanFiveAreNamed) {
  FoundFeatures found;
  found.columns.source_columns = 7;
  for (std::size_t j = 0; j < 7; ++j) {
    found.columns.column_of.push_back(j);
    found.columns.ranges.emplace_back();
    found.columns.names.push_back(std::string(1, static_cast<char>('a' + j)));
  }
  EXPECT_EQ(found.columns.some_of({0, 1, 2, 3, 4, 5, 6}), "a, b, c, d, e and 2 more");
}

TEST(FoundFeatures, FeaturesOfOneScaleStayAsTheyAre) {
  FoundFeatures found = found_in_histograms();
  for (FeatureSight& each : found.sights) each = {Kind::values, {0.3, 0.9}};
  EXPECT_TRUE(found.have_scale_already(true));
  found.sights[1].moments.deviation = 40;
  EXPECT_FALSE(found.have_scale_already(true));
  found.sights[1].moments.deviation = 0.9;
  found.label = FeatureSight{Kind::values};
  EXPECT_FALSE(found.have_scale_already(true)) << "labels are standardised";
  found.label.reset();
  found.source = Source::moments;
  EXPECT_FALSE(found.have_scale_already(true)) << "exact moments cost nothing";
  found.source = Source::histograms;
  found.columns.ranges[2] = {0, 1, 1};
  EXPECT_FALSE(found.have_scale_already(true)) << "a range is public";
}

}  // namespace starling::found_features_test
