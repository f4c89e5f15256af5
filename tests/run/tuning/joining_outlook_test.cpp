#include "run/tuning/joining_outlook.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "support/testing.hpp"

namespace starling::joining_outlook_test {

using namespace testing_support;

JoiningFacts facts_of(View records, double signal, std::optional<double> hiding = {}) {
  return {.signal_to_noise = signal, .parameters = 124, .records = {records.begin(), records.end()}, .hiding = hiding};
}

/// Runs of a9a with jobs/joining.py (docs/how-to/is-joining-worth-it.md): ρ that they printed, and their accuracies.
struct Measured {
  std::size_t clients;
  double records;
  double signal;
  double alone;
  double joint;
};

const std::vector<Measured> measured{
    {5, 6512, 1.96, 84.7, 81.3},   {5, 6512, 5.37, 84.7, 83.6},   {5, 6512, 16.2, 84.7, 84.7},
    {5, 6512, 43.4, 84.7, 84.8},   {5, 6512, 4.18, 84.7, 83.3},   {5, 6512, 25.6, 84.7, 84.6},
    {5, 6512, 68.7, 84.7, 84.8},   {64, 509, 0.549, 82.9, 78.2},  {64, 509, 1.5, 82.9, 80.8},
    {64, 509, 4.53, 82.9, 82.9},   {64, 509, 12.1, 82.9, 84.2},   {64, 509, 4.61, 82.9, 83.0},
    {64, 509, 12.6, 82.9, 84.1},   {64, 509, 28.2, 82.9, 84.6},   {64, 509, 75.6, 82.9, 84.8},
    {1000, 33, 0.144, 76.7, 69.9}, {1000, 33, 0.392, 76.7, 76.1}, {1000, 33, 1.19, 76.7, 79.6},
    {1000, 33, 3.3, 76.7, 82.6},   {1000, 33, 20.7, 76.7, 82.9},
};

TEST(JoiningOutlook, AgreesWithWhatWasMeasured) {
  for (const Measured& each : measured) {
    const Vector records(each.clients, each.records);
    const JoiningFacts facts = facts_of(records, each.signal);
    const double gain = each.joint - each.alone;
    const Joining truth = gain > 0.3 ? Joining::pays : gain < -0.3 ? Joining::costs : Joining::changes_little;
    EXPECT_EQ(expected_of_joining(each.records, worth_in_records(facts), 124), truth)
        << each.clients << " clients, signal to noise " << each.signal << ": " << joining_outlook(facts);
  }
}

TEST(JoiningOutlook, IsWorthNoMoreThanAllRecords) {
  const Vector records(4, 50.0);
  EXPECT_LT(worth_in_records(facts_of(records, 1e6)), 200);
  EXPECT_NEAR(worth_in_records(facts_of(records, 1e-3)), 0.124, 1e-3);
}

TEST(JoiningOutlook, CountsUnequalClients) {
  const Vector records{0, 40, 90, 2'000, 30'000};
  const std::string text = joining_outlook(facts_of(records, 20));
  EXPECT_THAT(text, HasSubstr("worth one of about 2300 records"));
  EXPECT_THAT(text,
              HasSubstr("A client has 0 to 30000 of its own: expect 3 to gain by joining, 2 to do about as well"));
  EXPECT_THAT(joining_outlook(facts_of(records, 2)), HasSubstr("expect 3 to gain by joining, 2 to do better alone"));
}

TEST(JoiningOutlook, SaysWhatPairsWouldGiveOnlyWhereJoiningDoesNotPayAnyway) {
  const Vector records(64, 509.0);
  EXPECT_THAT(joining_outlook(facts_of(records, 0.549, 38.0)), HasSubstr("With --trust pairs it would be worth 410"));
  EXPECT_THAT(joining_outlook(facts_of(records, 12, 38.0)), Not(HasSubstr("pairs")));
}

TEST(JoiningOutlook, HasNothingToSayOfOneClient) {
  EXPECT_EQ(joining_outlook(facts_of(Vector{500}, 3)), "");
  EXPECT_EQ(joining_outlook(facts_of(Vector{0, 0}, 3)), "");
}

}  // namespace starling::joining_outlook_test
