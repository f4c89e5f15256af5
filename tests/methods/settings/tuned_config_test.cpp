#include "run/settings/tuned_config.hpp"

#include <gmock/gmock.h>

#include "core/check.hpp"
#include "methods/fedavg/fedavg_config.hpp"
#include "methods/omd/omd_config.hpp"
#include "run/settings/configuration.hpp"
#include "support/testing.hpp"

namespace starling::tuned_config_test {

using testing::HasSubstr;
using testing_support::message_of;
using Words = std::vector<std::string>;

FedAvgConfig parse_fedavg(const std::vector<std::string>& words) {
  return configured<FedAvgConfig>(fedavg_options, complete_fedavg_config, words);
}

OmdConfig parse_omd(const std::vector<std::string>& words) {
  return configured<OmdConfig>(omd_options, complete_omd_config, words);
}

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const Words gaussian{"--mechanism", "gaussian", "--mu", "1"};

/// The options of `command`, omd or fedavg, by these words.
TunedConfig parsed(const std::string& command, const Words& words) {
  if (command == "omd") return parse_omd(words);
  return parse_fedavg(words);
}

std::string refusal(const std::string& command, const Words& words) {
  return message_of<UsageError>([&] { return parsed(command, words); });
}

class TunedConfigOf : public testing::TestWithParam<std::string> {};

TEST_P(TunedConfigOf, APowerOrAnOffsetSaysHowStepsFall) {
  EXPECT_FALSE(parsed(GetParam(), gaussian).given("step-decay"));
  const testing_support::TemporaryFolder folder;
  for (const Words& more : {Words{"--step-power", "0.9"}, {"--step-power", "0.5"}, {"--step-offset", "50"}}) {
    const TunedConfig config = parsed(GetParam(), joined(gaussian, more));
    EXPECT_TRUE(config.given("step-decay")) << more.front() << " " << more.back();
    EXPECT_FALSE(config.linear_decay);
    const std::string file = folder.write("config.ini", config.to_tune);
    EXPECT_TRUE(parsed(GetParam(), {"--config", file}).given("step-decay")) << "a file of what is to be tuned";
  }
  const std::string defaults = folder.write("config.ini", "step-power = 0.5\nstep-offset = 0\n");
  EXPECT_FALSE(parsed(GetParam(), joined(gaussian, {"--config", defaults})).given("step-decay"));
}

TEST_P(TunedConfigOf, RefusesAPowerOfALine) {
  for (const Words& more : {Words{"--step-power", "0.9"}, {"--step-offset", "3"}}) {
    EXPECT_THAT(refusal(GetParam(), joined({"--mechanism", "none", "--step-decay", "linear"}, more)),
                HasSubstr(more.front() + " with --step-decay linear: "));
  }
}

TEST_P(TunedConfigOf, RefusesWhatNothingWouldGoBy) {
  const Words none{"--mechanism", "none"};
  for (const Words& more : {Words{"--norm", "3"}, {"--label-size", "4"}, {"--feature-share", "0.2"}}) {
    EXPECT_THAT(refusal(GetParam(), joined(none, more)), HasSubstr(more.front() + " without --tuning auto"))
        << more.front();
    for (const Words& others : {gaussian, joined(none, {"--tuning", "auto"}), joined(gaussian, {"--tuning", "off"})}) {
      EXPECT_NO_THROW(static_cast<void>(parsed(GetParam(), joined(others, more)))) << more.front();
    }
  }
}

TEST_P(TunedConfigOf, RefusesTheShareOfHistogramsThatNobodyReleases) {
  const Words share{"--scale-share", "0.3"};
  EXPECT_THAT(refusal(GetParam(), joined({"--mechanism", "none"}, share)),
              HasSubstr("--scale-share without --mechanism"));
  for (const Words& others : {gaussian, joined(gaussian, {"--tuning", "off"})}) {
    EXPECT_NO_THROW(static_cast<void>(parsed(GetParam(), joined(others, share))));
  }
}

TEST_P(TunedConfigOf, RefusesTheUnitOfNoBudget) {
  const Words unit{"--budget-unit", "record"};
  EXPECT_THAT(refusal(GetParam(), joined(gaussian, unit)), HasSubstr("--budget-unit record without --budget: "));
  EXPECT_NO_THROW(static_cast<void>(parsed(GetParam(), joined(joined(gaussian, unit), {"--budget", "2"}))));
  const testing_support::TemporaryFolder folder;
  const std::string file = folder.write("run.ini", "mechanism = gaussian\nmu = 1\nbudget = 2\nbudget-unit = record\n");
  EXPECT_NO_THROW(static_cast<void>(parsed(GetParam(), {"--config", file})));
  EXPECT_NO_THROW(static_cast<void>(parsed(GetParam(), {"--config", file, "--mechanism", "none"})));
}

INSTANTIATE_TEST_SUITE_P(Commands, TunedConfigOf, testing::Values("omd", "fedavg"),
                         [](const auto& each) { return each.param; });

TEST(Configuration, TakesWhatARuleChoseAsIfItHadBeenGiven) {
  Configured<OmdConfig> configuration(omd_options, complete_omd_config);
  configuration.read(joined(gaussian, {"--step", "0.5", "--norm", "1,2"}));
  const OmdConfig& config = configuration.values();
  EXPECT_FALSE(config.given("batch"));
  configuration.choose({{"tuning", "off", ""}, {"batch", "40", ""}, {"step", "0.25", ""}, {"norm", "3", ""}});
  EXPECT_EQ(config.data.batch, 40u);
  EXPECT_EQ(config.omd.step, 0.25) << "in place of what was given";
  EXPECT_THAT(config.norm, testing::ElementsAre(3.0));
  EXPECT_TRUE(config.given("batch"));
  EXPECT_FALSE(config.tunes());
  EXPECT_THAT(config.text,
              testing::AllOf(HasSubstr("batch = 40\n"), HasSubstr("step = 0.25\n"), HasSubstr("tuning = off\n")));
}

TEST(Configuration, RefusesAChoiceThatContradictsWhatWasGiven) {
  Configured<OmdConfig> configuration(omd_options, complete_omd_config);
  configuration.read(joined(gaussian, {"--step-power", "0.9"}));
  EXPECT_THAT(message_of<UsageError>([&] {
                configuration.choose({{"step-decay", "linear", ""}});
              }),
              HasSubstr("--step-power with --step-decay linear: "));
  EXPECT_THAT(message_of<UsageError>([&] { configuration.choose({{"batch", "none", ""}}); }), HasSubstr("--batch: "));
}

}  // namespace starling::tuned_config_test
