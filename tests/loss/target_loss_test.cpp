#include "loss/target_loss.hpp"

#include "core/check.hpp"
#include "loss/loss.hpp"
#include "support/testing.hpp"

namespace starling::target_loss_test {

using namespace testing_support;

/// Against central differences.
void expect_derivative(const TargetLoss& loss, Vector outputs, const Vector& targets) {
  Vector derivative(loss.outputs());
  loss.derivative(outputs, targets, derivative);
  constexpr double h = 1e-6;
  for (std::size_t j = 0; j < outputs.size(); ++j) {
    Vector above = outputs;
    Vector below = outputs;
    above[j] += h;
    below[j] -= h;
    EXPECT_NEAR(derivative[j], (loss.value(above, targets) - loss.value(below, targets)) / (2 * h), 1e-7) << j;
  }
}

TEST(MeanSquaredError, IsAMeanOverTargets) {
  const auto loss = make_target_loss("mse", 2, 2);
  EXPECT_EQ(loss->value(Vector{1, 4}, Vector{2, 2}), (1 + 4) / 2.0);
  EXPECT_FALSE(loss->classifies());
  EXPECT_TRUE(loss->is_mean_squared_error());
  EXPECT_FALSE(make_target_loss("squared", 1, 1)->is_mean_squared_error()) << "half of it";
  EXPECT_FALSE(loss->margin(Vector{1, 2}).has_value());
  EXPECT_EQ(loss->link(), Link::identity);
  EXPECT_EQ(make_target_loss("softmax", 2, 1)->link(), Link::softmax);
  EXPECT_EQ(make_target_loss("hinge", 1, 1)->link(), Link::none);
  expect_derivative(*loss, {1, 4}, {2, 2});
}

TEST(TargetLoss, OfATableMemberIsThatMember) {
  const auto loss = make_target_loss("softmax", 3, 1);
  const auto own = loss_table().make("softmax:3");
  const Vector outputs{0.3, -1, 2};
  EXPECT_EQ(loss->value(outputs, Vector{1}), own->value(outputs, 1));
  EXPECT_TRUE(loss->correct(outputs, Vector{2}));
  EXPECT_FALSE(loss->correct(outputs, Vector{0}));
  EXPECT_FALSE(loss->margin(outputs).has_value()) << "of three classes";
  expect_derivative(*loss, outputs, {1});
}

TEST(TargetLoss, MarginsSpeakForTheLargerOfTwoClasses) {
  EXPECT_EQ(make_target_loss("softmax", 2, 1)->margin(Vector{1, 4}), 3);
  EXPECT_EQ(make_target_loss("logistic", 1, 1)->margin(Vector{-0.5}), -0.5);
  EXPECT_EQ(make_target_loss("logistic", 1, 1)->label(0), -1) << "as the loss has it";
}

TEST(TargetLoss, NamesTheOutputsOfAnOpenHead) {
  EXPECT_EQ(default_outputs("mse", 3), 3U);
  EXPECT_EQ(default_outputs("softmax", 1), 2U);
  EXPECT_EQ(default_outputs("softmax:5", 1), 5U);
  EXPECT_EQ(default_outputs("hinge", 1), 1U);
}

// An output that is its own loss would fall for ever.
TEST(TargetLoss, IsBoundedBelow) {
  EXPECT_ERROR(UsageError, "unknown loss 'linear'", check_target_loss("linear"));
  for (const char* text : {"mse", "softmax", "huber:2"}) EXPECT_NO_THROW(check_target_loss(text)) << text;
}

TEST(TargetLoss, RefusesWhatDoesNotGoTogether) {
  EXPECT_ERROR(UsageError, "End --head with 2", make_target_loss("mse", 3, 2));
  EXPECT_ERROR(UsageError, "Use --loss mse", make_target_loss("softmax", 2, 2));
  EXPECT_ERROR(UsageError, "number of classes", make_target_loss("softmax", 1, 1));
  EXPECT_ERROR(UsageError, "End --head with 1", make_target_loss("logistic", 2, 1));
  EXPECT_ERROR(UsageError, "known are mse, logistic, hazard, dwd", make_target_loss("hooge", 1, 1));
}

}  // namespace starling::target_loss_test
