#include "methods/vertical/setting/vertical_config.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "console/command.hpp"
#include "core/check.hpp"
#include "run/settings/configuration.hpp"
#include "support/testing.hpp"

namespace starling::vertical_config_test {

using namespace testing_support;

VerticalConfig parse_vertical(const std::vector<std::string>& words) {
  return configured<VerticalConfig>(vertical_options, complete_vertical_config, words);
}

std::string refusal(std::vector<std::string> words) {
  return message_of<UsageError>([&] { return parse_vertical(words); });
}

TEST(LayerSizes, LeaveOpenWhatDataDecide) {
  const LayerSizes sizes = LayerSizes::parse("d-8-d");
  EXPECT_FALSE(sizes.inputs.has_value());
  EXPECT_THAT(sizes.hidden, ElementsAre(8u));
  EXPECT_FALSE(sizes.outputs.has_value());
  const Architecture architecture = sizes.architecture(64, 2, "--head");
  EXPECT_EQ(architecture.input.size(), 64u);
  EXPECT_EQ(Network<float>(architecture).dimension(), 538u) << "docs/methods/vertical.md";
  const LayerSizes given = LayerSizes::parse("102-128-256-64-16");
  EXPECT_EQ(Network<float>(given.architecture(102, 1, "")).dimension(),
            102u * 128 + 128 + 128 * 256 + 256 + 256 * 64 + 64 + 64 * 16 + 16);
  EXPECT_ERROR(UsageError, "begins with 102 and there are 13 inputs", given.architecture(13, 1, "--feature-net"));
}

TEST(LayerSizes, RefuseWhatIsNone) {
  for (const char* text : {"", "16", "d--2", "3-x", "3-0-2", "3-d-2", "-3", "3-"}) {
    EXPECT_ERROR(UsageError, fmt::format("'{}': ", text), LayerSizes::parse(text)) << text;
  }
}

TEST(BitSchedule, GrowsWithHalfTheLogarithm) {
  EXPECT_THAT(BitSchedule{"sublinear:2"}.values(6, 16), ElementsAre(2, 3, 3, 3, 4, 4));
  const std::vector<long long> bits = BitSchedule{"sublinear:1"}.values(1025, 16);
  EXPECT_EQ(bits[1023], 6) << "1 + log2(1024)/2";
  EXPECT_EQ(bits[1024], 7);
}

TEST(BitSchedule, FollowsLinesRoundedUp) {
  EXPECT_THAT(BitSchedule{"schedule:from=2,to=4"}.values(5, 16), ElementsAre(2, 3, 3, 4, 4));
  EXPECT_ERROR(UsageError, "--bits", BitSchedule{"schedule:from=0,to=4"}.values(5, 16));
  EXPECT_ERROR(UsageError, "--bits", BitSchedule{"sublinear:0"}.values(5, 16));
}

TEST(BitSchedule, SaysFromWhereOnBitsAreTooFew) {
  for (const auto& [first, most] : {std::pair{9, 16}, {12, 16}, {15, 16}, {16, 16}, {9, 12}, {12, 12}}) {
    const BitSchedule schedule{fmt::format("sublinear:{}", first)};
    const auto capped = static_cast<std::size_t>(schedule.first_capped(most).value());
    const std::vector<long long> bits = schedule.values(static_cast<Round>(capped) + 1, most);
    // As real numbers, B + log2(t)/2 of round t, from 1, is all that there is just before and more after.
    EXPECT_EQ(first + std::log2(static_cast<double>(capped)) / 2, most) << first;
    EXPECT_EQ(bits[capped - 1], most) << first;
    EXPECT_EQ(bits[capped], most) << first << ": there are no more";
  }
  EXPECT_FALSE(BitSchedule{"schedule:from=2,to=16"}.first_capped(16).has_value());
}

TEST(VerticalConfig, HasThePapersDefaults) {
  const VerticalConfig config = parse_vertical({"--mechanism", "none"});
  EXPECT_TRUE(config.is_spectrum());
  EXPECT_EQ(config.quantiser, "float32");
  EXPECT_EQ(config.head_quantiser, "float32");
  EXPECT_EQ(config.plan.step, 0.03);
  EXPECT_EQ(config.plan.step_power, 0);
  EXPECT_EQ(parse_vertical({"--precision", "double"}).quantiser, "double");
  EXPECT_EQ(parse_vertical({"--quantise-head", "8"}).head_quantiser, "scalar:8");
  EXPECT_EQ(parse_vertical({"--baseline", "lazy:150"}).plan.lazy_after, 150);
  EXPECT_TRUE(parse_vertical({"--baseline", "central"}).plan.central);
}

TEST(VerticalConfig, ReadsWhatItPrints) {
  const testing_support::TemporaryFolder folder;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--mechanism", "none"},
        {"--source", "t.csv", "--columns", "0/1", "--batch", "7", "--quantiser", "scalar:3", "--bits", "sublinear:2"},
        {"--mechanism", "gaussian", "--mu", "1", "--embedding-clip", "2", "--labels", "head"},
        {"--parties", "a.csv,b.csv", "--id", "id", "--step", "0.1"},
        {"--regret", "static", "--regret-passes", "3", "--baseline", "lazy:4"}}) {
    const std::string text = parse_vertical(words).text;
    const std::string file = folder.write("config.ini", text);
    EXPECT_EQ(parse_vertical({"--config", file}).text, text);
  }
}

TEST(VerticalConfig, KnowsHowManyPartiesDataHave) {
  EXPECT_EQ(parse_vertical({"--source", "a.csv", "--columns", "0-3/4,6/5"}).parties_of_data(), 3);
  EXPECT_EQ(parse_vertical({"--parties", "a.csv,b.csv"}).parties_of_data(), 2);
  EXPECT_EQ(parse_vertical({"--source", "synthetic:spectrum:receivers=6"}).parties_of_data(), 6);
  EXPECT_FALSE(parse_vertical({}).parties_of_data().has_value());
}

TEST(VerticalConfig, RefusesWhatContradicts) {
  EXPECT_THAT(refusal({"--labels", "head", "--local-steps", "2"}), HasSubstr("Use --local-steps 1"));
  EXPECT_THAT(refusal({"--labels", "head", "--quantise-head", "4"}), HasSubstr("the head stays"));
  EXPECT_THAT(refusal({"--baseline", "central", "--quantiser", "scalar:4"}), HasSubstr("Leave --quantiser out"));
  EXPECT_THAT(refusal({"--baseline", "central", "--mechanism", "gaussian", "--mu", "1"}),
              HasSubstr("un-noised columns"));
  EXPECT_THAT(refusal({"--baseline", "sometimes"}), HasSubstr("known are none, central, lazy"));
  EXPECT_THAT(refusal({"--mechanism", "laplace", "--epsilon", "1"}), HasSubstr("Use gaussian"));
  EXPECT_THAT(refusal({"--mechanism", "none", "--embedding-clip", "1"}), HasSubstr("--embedding-clip without noise"));
  EXPECT_THAT(refusal({"--parties", "a,b", "--columns", "0/1"}), HasSubstr("Leave one of them out"));
  EXPECT_THAT(refusal({"--parties", "a,b", "--source", "c"}), HasSubstr("Give one"));
  EXPECT_THAT(refusal({"--quantiser", "scalar:0"}), HasSubstr("bits"));
  EXPECT_THAT(refusal({"--quantiser", "ternary"}), HasSubstr("known are "));
  EXPECT_THAT(refusal({"--batch", "10"}), HasSubstr("train="));
  EXPECT_THAT(refusal({"--mechanism", "none", "--clip", "1"}), HasSubstr("--clip without noise"));
  EXPECT_THAT(refusal({"--regret-passes", "3"}), HasSubstr("--regret static"));
}

TEST(VerticalConfig, RefusesALossThatKnowsNoLabels) {
  const std::string linear = refusal({"--mechanism", "none", "--loss", "linear"});
  const std::string nothing = refusal({"--mechanism", "none", "--loss", "nothing"});
  EXPECT_THAT(linear, testing::MatchesRegex("unknown loss 'linear': known are mse, .*logistic.*softmax.*"));
  EXPECT_EQ(linear.substr(linear.find(": known")), nothing.substr(nothing.find(": known"))) << "the same list";
  const std::vector<Option> options = declarations_from<VerticalConfig, vertical_options>();
  const auto loss = std::ranges::find(options, "loss", &Option::name);
  ASSERT_TRUE(loss != options.end());
  EXPECT_THAT(loss->values().names, AllOf(testing::Contains("logistic"), Not(testing::Contains("linear"))));
}

TEST(VerticalConfig, NamesAnOptionOnce) {
  for (const std::string option : {"--feature-net", "--head"}) {
    for (const std::string text : {"7", "3-x-3", "d-0-3", "d-d-3"}) {
      EXPECT_THAT(refusal({"--mechanism", "none", option, text}),
                  testing::MatchesRegex(fmt::format("{}: '{}': [^-]*: .*", option, text)));
    }
  }
}

VerticalSettings held_out_of(std::vector<std::string> words) {
  words.insert(words.end(), {"--mechanism", "none"});
  return parse_vertical(words).held_out_settings();
}

TEST(VerticalConfig, SplitsHeldOutRecordsAsTheSource) {
  const VerticalSettings files = held_out_of(
      {"--parties", "a.csv,b.csv", "--epochs", "3", "--test", "c.csv,d.csv", "--test-label-source", "e.csv"});
  EXPECT_THAT(files.files, ElementsAre("c.csv", "d.csv"));
  EXPECT_EQ(files.label_source, "e.csv");
  EXPECT_EQ(files.epochs, 1);
  const VerticalSettings named = held_out_of({"--parties", "a.csv,b.csv", "--test", "c{client}.csv"});
  EXPECT_THAT(named.files, ElementsAre());
  EXPECT_EQ(named.source, "c{client}.csv");
  const VerticalSettings pair = held_out_of({"--source", "a.csv", "--columns", "0/1", "--test", "x.idx,y.idx"});
  EXPECT_EQ(pair.source, "x.idx,y.idx");
  EXPECT_EQ(pair.columns, "0/1");
}

TEST(VerticalConfig, LeavesPersonsOfHeldOutRecordsOut) {
  const VerticalSettings settings = held_out_of({"--parties", "a.csv,b.csv", "--unit", "person", "--person", "who",
                                                 "--person-rows", "1", "--test", "c.csv,d.csv"});
  EXPECT_EQ(settings.person, "");
  EXPECT_THAT(settings.drop, ElementsAre("who"));
  EXPECT_TRUE(settings.may_lack_drops);
}

TEST(VerticalConfig, RefusesHeldOutRecordsOfAnotherKind) {
  EXPECT_THAT(refusal({"--test", "a.csv"}), HasSubstr("--test with a spectrum"));
  EXPECT_THAT(refusal({"--source", "a.csv", "--columns", "0/1", "--test", "b{client}.csv"}),
              HasSubstr("it must be one table"));
  EXPECT_THAT(refusal({"--source", "a.csv", "--columns", "0/1", "--test", "synthetic:two-gaussians:p=2,n=9"}),
              HasSubstr("Name a file"));
  EXPECT_THAT(refusal({"--parties", "a.csv,b.csv", "--test-label-source", "c.csv"}), HasSubstr("--test-label-source"));
}

}  // namespace starling::vertical_config_test
