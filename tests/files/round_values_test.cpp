#include "files/round_values.hpp"

#include "core/check.hpp"
#include "files/number_rows.hpp"
#include "support/testing.hpp"

namespace starling::round_values_test {

using namespace testing_support;

/// The schedule that a file of this text stands for.
std::string in_file(const testing_support::TemporaryFolder& folder, const std::string& text) {
  return "schedule:" + folder.write("values.csv", text);
}

RoundValues parse(const std::string& text, Round rounds = 101) {
  return RoundValues::parse(text, "--epsilon", rounds, 0.01, 10);
}
std::string refusal(const std::string& text) {
  return message_of<UsageError>([&] { return parse(text); });
}

TEST(RoundValues, ANumberHoldsInAllRounds) {
  const RoundValues values = parse("1/4");
  EXPECT_EQ(values.at(0), 0.25);
  EXPECT_EQ(values.at(1'000'000'000'000), 0.25);
  EXPECT_TRUE(values.constant());
}

TEST(RoundValues, ShapesGoFromOneEndToTheOther) {
  const RoundValues line = parse("schedule:from=1,to=0.5");
  EXPECT_EQ(line.at(0), 1);
  EXPECT_DOUBLE_EQ(line.at(50), 0.75);
  EXPECT_EQ(line.at(100), 0.5);
  EXPECT_EQ(line.at(1000), 0.5);
  EXPECT_EQ(line.least(), 0.5);
  EXPECT_EQ(line.most(), 1);
  const RoundValues root = parse("schedule:from=1,to=2,shape=sqrt");
  EXPECT_DOUBLE_EQ(root.at(25), 1.5);
  EXPECT_EQ(root.at(100), 2);
}

TEST(RoundValues, ARunOfOneRoundHasTheFirstValue) {
  EXPECT_EQ(parse("schedule:from=1,to=2", 1).at(0), 1);
}

TEST(RoundValues, StepsHoldUntilTheNext) {
  const testing_support::TemporaryFolder folder;
  const RoundValues values = parse(in_file(folder, "round,value\n0,1\n\n# later\n10, 0.5\n20,1/8\n"));
  EXPECT_EQ(values.at(0), 1);
  EXPECT_EQ(values.at(9), 1);
  EXPECT_EQ(values.at(10), 0.5);
  EXPECT_EQ(values.at(99), 0.125);
  EXPECT_EQ(values.least(), 0.125);
  EXPECT_EQ(values.most(), 1);
}

TEST(RoundValues, BadLinesAreNamed) {
  const testing_support::TemporaryFolder folder;
  for (const auto& [text, part] :
       {std::pair{"0,1\n10\n", ":2: '10' is not two numbers"}, std::pair{"0,1\n10,x\n", ":2: 'x' is not a number"},
        std::pair{"0,1\n10,100\n", ":2: 100 is out of range"}, std::pair{"0,1\n10,nan\n", ":2: nan is out of range"},
        std::pair{"0,1\n0,1\n", ":2: round 0"}, std::pair{"1,1\n", ":1: round 1"}, std::pair{"-1,1\n", ":1: -1"},
        std::pair{"round,value\n", "holds no numbers"}}) {
    const std::string message = refusal(in_file(folder, text));
    EXPECT_THAT(message, HasSubstr(part));
    EXPECT_THAT(message, testing::MatchesRegex(".*[.] (Write|Correct) .*[.]")) << text;
  }
}

TEST(RoundValues, RefusesWhatIsNoSchedule) {
  for (const auto& [text, part] :
       {std::pair{"lots", "'lots' is not a number"}, std::pair{"0", "out of range"}, std::pair{"schedule:from=1", "to"},
        std::pair{"schedule:from=1,to=100", "100 is out of range"},
        std::pair{"schedule:from=1,to=2,shape=bent", "unknown shape 'bent'"},
        std::pair{"schedule:a.csv,from=1", "exclude each other"},
        std::pair{"schedule:nowhere.csv", "cannot read 'nowhere.csv'"}}) {
    EXPECT_THAT(refusal(text), HasSubstr(part));
  }
}

}  // namespace starling::round_values_test
