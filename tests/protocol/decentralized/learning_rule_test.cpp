/// The rule of untuned learning: numbers of docs/methods/learning-rule.md, what users settle, and refusals.
#include "protocol/decentralized/learning_rule.hpp"

#include <cmath>
#include <string>

#include "core/check.hpp"
#include "support/testing.hpp"

namespace starling::learning_rule_test {

/// a9a over five clients at ε = 1, δ = 1e-5.
RuleFacts census() {
  RuleFacts facts;
  facts.clients = 5;
  facts.most_records = 6513;
  facts.dimension = 124;
  facts.price = 0.268;
  facts.correlates = true;
  return facts;
}

TEST(LearningRule, PlansRoundsBatchAndClip) {
  const LearningRule rule = learning_rule(census());
  EXPECT_EQ(rule.batch, 26U);
  EXPECT_EQ(rule.rounds_of_pass, 251);
  EXPECT_EQ(rule.rounds, 251);
  EXPECT_EQ(rule.clip, rule.clip_widening);
  EXPECT_EQ(rule.norm, 2);
  ASSERT_TRUE(rule.correlation);
  EXPECT_NEAR(rule.prefix_noise, 2.62, 0.02);
}

// s1 = C (2/μ) v R/(m √n), and one and a half logits of it.
TEST(LearningRule, StepsAsFarAsNoiseMovesLogitsByOneAndAHalf) {
  const LearningRule rule = learning_rule(census());
  EXPECT_NEAR(rule.score_noise, 2 / 0.268 * rule.clip * rule.prefix_noise * 2 / (26 * std::sqrt(5.0)), 1e-12);
  EXPECT_NEAR(rule.step, 1.5 / rule.score_noise, 1e-12);
  EXPECT_NEAR(rule.noise_of_scores(), 1.5, 1e-12);
  EXPECT_NEAR(rule.unhindered_step, 16 * std::sqrt(256.0 / 251) / (2 * rule.clip), 1e-12);
}

// One and a half logits from a signal of 6 on, and no less than half of that.
TEST(LearningRule, LeavesMoreToTheConstantWhereThereIsLittleSignal) {
  RuleFacts facts = census();
  const double signal = signal_to_noise(facts, learning_rule(facts));
  for (const auto& [of, noise] : {std::pair{0.5, 0.75}, {3.0, 0.75}, {4.0, 1.0}, {6.0, 1.5}}) {
    facts.price = 0.268 * of / signal;
    EXPECT_NEAR(learning_rule(facts).noise_of_scores(), noise, 1e-9) << of;
  }
  facts.most_records.reset();
  facts.price = 1e-3;
  EXPECT_NEAR(learning_rule(facts).noise_of_scores(), 1.5, 1e-9) << "a stream whose signal nobody knows";
}

TEST(LearningRule, AConstantAloneIsClippedAtItsSlope) {
  RuleFacts facts = census();
  facts.norm = 1;
  facts.constant_alone = true;
  EXPECT_EQ(learning_rule(facts).clip, 0.5);
}

// 3R/4 where noise costs much, R where it costs little, and in proportion between signals of 10 and 25.
TEST(LearningRule, ClipsLessWhereThereIsLittleNoise) {
  RuleFacts facts = census();
  const double signal = signal_to_noise(facts, learning_rule(facts));
  for (const auto& [of, clip] : {std::pair{1.0, 1.5}, {9.9, 1.5}, {17.5, 1.75}, {25.0, 2.0}, {100.0, 2.0}}) {
    facts.price = 0.268 * of / signal;
    EXPECT_NEAR(learning_rule(facts).clip, clip, 1e-9) << of;
  }
  facts.scores = 3;
  EXPECT_EQ(learning_rule(facts).clip, 1);
  facts.scores = 1;
  facts.clip = 1;
  EXPECT_EQ(learning_rule(facts).clip, 1) << "what the user gave stands";
}

// Batches of 64 records at most, or of 4096 where a client with few records is to have one in each; 256 rounds, or 1024
// of short steps.
// Half a deviation where there is much noise, a whole one where there is little. What is stable does not change.
TEST(LearningRule, ClipsMoreOfLabelsInDeviationsWhereThereIsMuchNoise) {
  RuleFacts facts = census();
  facts.classifies = false;
  facts.slope = 1;
  facts.unit = 0.25;
  const double signal = signal_to_noise(facts, learning_rule(facts));
  const LearningRule plain = learning_rule(facts);
  EXPECT_EQ(plain.clip, 2) << "labels of some size";
  facts.has_far_labels = true;
  for (const auto& [of, clip] : {std::pair{1.0, 1.0}, {10.0, 1.0}, {17.5, 1.5}, {25.0, 2.0}, {90.0, 2.0}}) {
    facts.price = 0.268 * of / signal;
    EXPECT_NEAR(learning_rule(facts).clip, clip, 1e-9) << of;
    EXPECT_NEAR(learning_rule(facts).unhindered_step, plain.unhindered_step, 1e-12) << of;
  }
  facts.constant_alone = true;
  EXPECT_EQ(learning_rule(facts).clip, 2);
}

TEST(LearningRule, TakesAsManyPassesWithoutNoiseAsRecordsAreFew) {
  EXPECT_EQ(passes_without_noise(1'000'000, {}, 256), 1);
  EXPECT_EQ(passes_without_noise(1638, {}, 256), 11);
  EXPECT_EQ(passes_without_noise(10, {}, 256), 64);
  EXPECT_EQ(passes_without_noise(1638, {}, 1024), 41);
  EXPECT_EQ(passes_without_noise(1638, 1000, 1024), 41);
  EXPECT_EQ(passes_without_noise(1638, 3, 1024), 342);
  EXPECT_EQ(passes_without_noise(1638, 1, 1024), 1024);
  EXPECT_EQ(passes_without_noise(1'000'000, 1, 1024), 5);
}

// Rounds that take about as long, whatever the clients and parameters; steps do not shorten with them.
TEST(LearningRule, FitsToTheEndWithoutNoise) {
  EXPECT_EQ(rounds_of_fit(5, 20), 4096);
  EXPECT_EQ(rounds_of_fit(50, 1000), 1250);
  EXPECT_EQ(rounds_of_fit(1000, 1000), 256);
  EXPECT_EQ(passes_without_noise(100, {}, 4096), 1024);
  RuleFacts facts = census();
  facts.noise = ChargeKind::unbounded;
  facts.epochs = 4;
  const LearningRule early = learning_rule(facts);
  facts.rounds_of_fit = 4096;
  const LearningRule rule = learning_rule(facts);
  EXPECT_EQ(rule.rounds_of_pass, 931) << "batches of 7 of 6513 records";
  EXPECT_NEAR(rule.step, early.step * std::sqrt(static_cast<double>(early.rounds) / 256), 1e-12);
}

// 1/(ℓ'' max(R², Q²/m)), whatever the clients and their slopes.
TEST(LearningRule, StepsStablyWhereNothingBoundsGradients) {
  RuleFacts facts = census();
  facts.noise = ChargeKind::unbounded;
  facts.classifies = false;
  facts.norm = 3;
  facts.curvature = 2;
  EXPECT_EQ(learning_rule(facts).rounds, 931);
  EXPECT_EQ(learning_rule(facts).step, 1 / (2.0 * 9));
  facts.largest_norm = 70;
  EXPECT_EQ(learning_rule(facts).step, 1 / (2.0 * 700));
  facts.largest_norm = 7;
  facts.clients = 3;
  facts.slope = 100;
  EXPECT_EQ(learning_rule(facts).step, 1 / (2.0 * 9));
}

// Regression in other units of the labels is the same regression: slope and unit of scores are multiplied alike, steps
// stay, and scores are as many labels.
TEST(LearningRule, FollowsTheUnitsOfLabels) {
  for (const double price : {0.268, 10.0}) {
    RuleFacts facts = census();
    facts.price = price;
    facts.classifies = false;
    facts.slope = 1;
    facts.unit = 0.25;
    const LearningRule one = learning_rule(facts);
    facts.slope = 1000;
    facts.unit = 250;
    const LearningRule thousand = learning_rule(facts);
    EXPECT_NEAR(one.clip, 2, 1e-12);
    EXPECT_NEAR(thousand.clip, 2000, 1e-9);
    EXPECT_NEAR(thousand.step / one.step, 1, 1e-12);
    EXPECT_LE(one.noise_of_scores(), 3 * 0.25 * (1 + 1e-12));
    EXPECT_NEAR(thousand.noise_of_scores() / one.noise_of_scores(), 1000, 1e-9);
    EXPECT_NEAR(one.unhindered_step, 16 * 0.25 * std::sqrt(256.0 / 251) / (2 * 2), 1e-12);
  }
}

TEST(LearningRule, StepsNoFurtherThanIsStable) {
  RuleFacts facts = census();
  facts.price = 10;
  EXPECT_EQ(learning_rule(facts).step, learning_rule(facts).unhindered_step);
  facts.noise = ChargeKind::unbounded;
  facts.correlates = false;
  const LearningRule bare = learning_rule(facts);
  EXPECT_EQ(bare.step, bare.unhindered_step);
  EXPECT_EQ(bare.prefix_noise, 0);
  EXPECT_EQ(bare.batch, 26U);
}

// Steps are shorter in runs of fewer than eight rounds, since no later round makes up for a long one.
TEST(LearningRule, TakesNoLongStepsInHardlyAnyRounds) {
  RuleFacts facts = census();
  const auto longest = [&](Round rounds) {
    facts.rounds = rounds;
    const LearningRule rule = learning_rule(facts);
    return rule.unhindered_step * 2 * rule.clip / 16;
  };
  EXPECT_NEAR(longest(32), std::sqrt(8.0), 1e-12);
  EXPECT_NEAR(longest(8), std::sqrt(32.0), 1e-12);
  EXPECT_NEAR(longest(4), std::sqrt(32.0) / 2, 1e-12);
  EXPECT_NEAR(longest(1), std::sqrt(32.0) / 8, 1e-12);
}

TEST(LearningRule, PlansPassesTogether) {
  RuleFacts facts = census();
  facts.epochs = 16;
  facts.price = 0.268 / 4;
  const LearningRule rule = learning_rule(facts);
  EXPECT_EQ(rule.batch, 408U);
  EXPECT_EQ(rule.rounds_of_pass, 16);
  EXPECT_EQ(rule.rounds, 256);
  EXPECT_EQ(rule.correlation->uses, 16);
  EXPECT_EQ(rule.correlation->apart, 16);
}

// (ε, δ = 1e-5) as μ, and the rounds of independent noise: 8, 10, 32, 86, 201.
TEST(LearningRule, TakesFewRoundsWhereNoiseDoesNotCancel) {
  RuleFacts facts = census();
  facts.most_records = 6512;
  facts.correlates = false;
  const std::vector<std::pair<double, Round>> rounds{{0.0309, 8}, {0.0866, 10}, {0.268, 32}, {0.715, 86}, {1.67, 201}};
  for (const auto& [mu, expected] : rounds) {
    facts.price = mu;
    const auto batch = static_cast<Round>(learning_rule(facts).batch);
    EXPECT_NEAR(static_cast<double>((6512 + batch - 1) / batch), static_cast<double>(expected), 0.02 * 201) << mu;
  }
  facts.noise = ChargeKind::laplace;
  facts.price = 1;
  facts.norm = std::sqrt(14.0);
  facts.norm_l1 = 14;
  const LearningRule laplace = learning_rule(facts);
  EXPECT_EQ(laplace.clip, 7);
  EXPECT_NEAR(static_cast<double>(laplace.rounds), 85.3 * std::sqrt(14.0) / 14, 1);
}

// Gradients that are means over a full batch are shorter where batches are not full, and the noise is the same.
TEST(LearningRule, TakesLongerStepsAndExpectsLessWhereBatchesAreNotFull) {
  RuleFacts facts = census();
  facts.clip = 1;
  const LearningRule full = learning_rule(facts);
  facts.mean_records = static_cast<double>(*facts.most_records) / 2;
  const LearningRule half = learning_rule(facts);
  EXPECT_DOUBLE_EQ(half.unhindered_step, 2 * full.unhindered_step);
  EXPECT_EQ(half.score_noise, full.score_noise);
  EXPECT_EQ(half.rounds, full.rounds);
  EXPECT_DOUBLE_EQ(signal_to_noise(facts, half), signal_to_noise(census(), full) / 2);
}

// A domain with room for twice the noise of useful scores cuts next to none of it off.
TEST(LearningRule, TakesIndependentNoiseWhereADomainCutsItOff) {
  RuleFacts facts = census();
  facts.room = 3.01;  // × R = 2 is above 2 κ
  EXPECT_EQ(learning_rule(facts).step, learning_rule(census()).step);
  EXPECT_TRUE(learning_rule(facts).correlation);
  facts.room = 2.99;
  const LearningRule cut = learning_rule(facts);
  EXPECT_FALSE(cut.correlation);
  facts = census();
  facts.correlates = false;
  EXPECT_EQ(cut.batch, learning_rule(facts).batch);
  EXPECT_NEAR(cut.noise_of_scores(), 2 * learning_rule(facts).noise_of_scores(), 1e-12);
  EXPECT_EQ(cut.clip_widening, 1);
}

// s1 of exponents has no R in it, and the largest of d noises counts.
TEST(LearningRule, StepsAsFarAsNoiseMovesExponents) {
  RuleFacts facts = census();
  facts.map = {5.0 / 124, true};
  facts.room = 0;
  const LearningRule rule = learning_rule(facts);
  const auto batch = static_cast<double>(rule.batch);
  EXPECT_NEAR(rule.score_noise, 2 / 0.268 * rule.prefix_noise / (batch * std::sqrt(5.0)), 1e-12);
  EXPECT_NEAR(rule.step, 3 / std::sqrt(2 * std::log(124.0)) / rule.score_noise, 1e-12);
  EXPECT_NEAR(rule.unhindered_step, 16 * std::sqrt(256.0 / static_cast<double>(rule.rounds)) / 2 * 124 / 5, 1e-9);
}

// The pace of a map lets steps be longer as far as they are stable. Noise counts as that of Euclidean steps.
TEST(LearningRule, CountsThePaceOfTheMapWithoutNoise) {
  RuleFacts facts = census();
  const LearningRule euclidean = learning_rule(facts);
  facts.map.pace = 0.1;
  const LearningRule slow = learning_rule(facts);
  EXPECT_EQ(slow.score_noise, euclidean.score_noise);
  EXPECT_NEAR(slow.unhindered_step, 10 * euclidean.unhindered_step, 1e-9);
}

TEST(LearningRule, FollowsWhatIsSettled) {
  RuleFacts facts = census();
  facts.rounds = 100;
  EXPECT_EQ(learning_rule(facts).batch, 65U);
  EXPECT_EQ(learning_rule(facts).rounds, 100);
  facts.batch = 10;
  EXPECT_EQ(learning_rule(facts).batch, 10U);
  EXPECT_EQ(learning_rule(facts).rounds, 100);
  facts.clip = 0.5;
  facts.step = 7;
  EXPECT_EQ(learning_rule(facts).clip, 0.5);
  EXPECT_EQ(learning_rule(facts).step, 7);
  facts.norm = 4;
  EXPECT_EQ(learning_rule(facts).norm, 4);
}

TEST(LearningRule, PlansStreamsWithoutEndByTheirRounds) {
  RuleFacts facts = census();
  facts.most_records.reset();
  facts.rounds = 5000;
  const LearningRule rule = learning_rule(facts);
  EXPECT_EQ(rule.batch, 1U);
  EXPECT_EQ(rule.rounds, 5000);
  EXPECT_EQ(rule.correlation->uses, 1);
  EXPECT_EQ(signal_to_noise(facts, rule), 0);
}

TEST(LearningRule, StepsFurtherWhereTheLossOfManyClassesBendsLess) {
  EXPECT_EQ(useful_shift(1), 3);
  EXPECT_NEAR(useful_shift(10), 3 / std::sqrt(2 * std::log(10)), 1e-12);
  RuleFacts facts = census();
  facts.price = 100;
  facts.clip = 1;
  const double two = learning_rule(facts).unhindered_step;
  facts.scores = 2;
  EXPECT_EQ(learning_rule(facts).unhindered_step, two);
  facts.scores = 10;
  EXPECT_DOUBLE_EQ(learning_rule(facts).unhindered_step, 5 * two);
  facts.price = 0.1;
  const LearningRule noisy = learning_rule(facts);
  EXPECT_NEAR(noisy.noise_of_scores(), useful_shift(10), 1e-12);
}

TEST(LearningRule, TakesWholePassesWhereThereIsLittleSignal) {
  RuleFacts facts = census();
  EXPECT_FALSE(whole_passes_suffice(facts));  // 8 rounds at least, and one pass
  facts.epochs = 16;
  facts.price = 0.3 / 4;  // 36 rounds
  EXPECT_FALSE(whole_passes_suffice(facts));
  facts.price = 0.03 / 4;
  EXPECT_TRUE(whole_passes_suffice(facts));
  facts.correlates = false;
  EXPECT_EQ(learning_rule(facts).batch, 6513U);
  EXPECT_EQ(learning_rule(facts).rounds, 16);
  facts.batch = 100;
  EXPECT_FALSE(whole_passes_suffice(facts));
}

TEST(LearningRule, TakesTheNoiseNormOfANetworkForTheNormOfRecords) {
  RuleFacts facts = census();
  facts.price = 0.1;  // little enough that clips are widened least
  facts.norm = 2;
  facts.noise_norm = 7;
  const LearningRule network = learning_rule(facts);
  EXPECT_EQ(network.norm, 2);
  facts.norm = 7;
  facts.noise_norm.reset();
  const LearningRule linear = learning_rule(facts);
  EXPECT_EQ(network.clip, linear.clip / linear.clip_widening);
  EXPECT_EQ(network.noise_of_scores(), 3);
  EXPECT_LT(linear.noise_of_scores(), 1.5) << "so little signal leaves more answers to the constant";
  EXPECT_NEAR(network.unhindered_step, linear.unhindered_step * linear.clip_widening, 1e-12);
  EXPECT_EQ(network.noise_norm, linear.noise_norm);
}

TEST(LearningRule, MovesANetworkByNoMoreThanItsStart) {
  RuleFacts facts = census();
  facts.rounds = rounds_of_rule;
  facts.noise_norm = 7;
  facts.price = 1000;
  const LearningRule unbounded = learning_rule(facts);
  facts.start_norm = unbounded.step * unbounded.clip / 2;
  const LearningRule bounded = learning_rule(facts);
  EXPECT_DOUBLE_EQ(bounded.step, unbounded.step / 2);
  EXPECT_EQ(bounded.step, bounded.unhindered_step);
  facts.rounds = rounds_of_rule / 16;  // fewer rounds have longer steps
  EXPECT_DOUBLE_EQ(learning_rule(facts).step, 4 * bounded.step);
  facts.rounds = rounds_of_rule;
  *facts.start_norm *= 3;
  EXPECT_EQ(learning_rule(facts).step, unbounded.step);
  facts.price = 0.01;  // noise asks for shorter steps
  const double hindered = learning_rule(facts).step;
  facts.start_norm.reset();
  EXPECT_EQ(learning_rule(facts).step, hindered);
}

TEST(LearningRule, ComparesSignalWithNoise) {
  const RuleFacts facts = census();
  const LearningRule rule = learning_rule(facts);
  EXPECT_NEAR(signal_to_noise(facts, rule), 0.268 * 6513 * std::sqrt(5.0) / (rule.prefix_noise * 124), 1e-9);
}

TEST(LearningRule, RefusesWhatHasNoMeaning) {
  RuleFacts facts = census();
  facts.price = 0;
  EXPECT_THROW(static_cast<void>(learning_rule(facts)), UsageError);
  facts = census();
  facts.norm = -1;
  EXPECT_THROW(static_cast<void>(learning_rule(facts)), UsageError);
  facts = census();
  facts.epochs = 0;
  EXPECT_THROW(static_cast<void>(learning_rule(facts)), UsageError);
}

}  // namespace starling::learning_rule_test
