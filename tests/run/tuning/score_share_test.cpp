#include "run/tuning/score_share.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/testing.hpp"

namespace starling::score_share_test {

using namespace testing_support;

TunedConfig config_of(const std::string& total) {
  TunedConfig config;
  config.privacy.mechanism = "gaussian";
  config.privacy.total_epsilon = total;
  return config;
}

// 0.18 of a record's slope, a sensitivity of √(17/16) of a range of 2.25: records for which the factor's error is
// wanted.
TEST(ScoreShare, IsAsMuchAsShowsTheFactor) {
  const auto share_of = [](const char* total, std::size_t clients, double records) {
    return tuned_score_share(config_of(total), Vector(clients, records));
  };
  EXPECT_EQ(share_of("1", 5, 100), 0) << "noise alone";
  EXPECT_EQ(share_of("1", 5, 400), 0.05) << "the most";
  EXPECT_NEAR(share_of("1", 5, 1000), 0.0205, 0.0005);
  EXPECT_EQ(share_of("1", 5, 2000), 0.02) << "the least";
  EXPECT_LT(share_of("1.5", 5, 500), share_of("1", 5, 500)) << "a higher price";
  EXPECT_GT(share_of("1", 10, 500), share_of("1", 5, 1000)) << "noise of more clients, of as many records";
}

TEST(ScoreShare, ClientsWithoutRecordsAddNoNoise) {
  EXPECT_EQ(tuned_score_share(config_of("1"), Vector{1000, 0, 0, 1000}),
            tuned_score_share(config_of("1"), Vector{1000, 1000}));
}

TEST(ScoreShare, RunsWhoseScoresCannotBeMeasuredSayWhy) {
  const Dataset records;
  EXPECT_EQ(why_no_score_share(config_of("1"), records, ""), "");
  EXPECT_EQ(why_no_score_share(config_of("1"), records, "a reason"), "a reason");
  const std::vector<std::pair<std::string, std::function<void(TunedConfig&)>>> cases{
      {"Gaussian", [](TunedConfig& config) { config.privacy.mechanism = "laplace"; }},
      {"components", [](TunedConfig& config) { config.privacy.unit = PrivacyUnit::component; }},
      {"linear models", [](TunedConfig& config) { config.model.kind = ModelChoice::Kind::perceptron; }},
      {"linear models", [](TunedConfig& config) { config.loss = "softmax:3"; }},
      {"by coins", [](TunedConfig& config) { config.privacy.audit = true; }},
  };
  for (const auto& [reason, change] : cases) {
    TunedConfig config = config_of("1");
    change(config);
    EXPECT_NE(why_no_score_share(config, records, "").find(reason), std::string::npos) << reason;
    EXPECT_NO_THROW(check_score_share(config, records, ""));
    config.privacy.score_share = 0.05;
    EXPECT_ERROR(UsageError, "--score-share 0.05", check_score_share(config, records, ""));
  }
  Dataset once;
  once.replayable = false;
  EXPECT_NE(why_no_score_share(config_of("1"), once, "").find("come once"), std::string::npos);
}

}  // namespace starling::score_share_test
