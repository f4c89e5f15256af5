/// Conformance tests of all losses with curvature, and of one that is added to the table.
#include <algorithm>
#include <cmath>

#include "examples.hpp"
#include "pseudo_huber.hpp"
#include "support/testing.hpp"

namespace starling::curved_losses_test {

using namespace testing_support;

bool has_curvature(const LossExample& example) {
  return loss_table().make(example.spec)->curved() != nullptr;
}

/// The table's examples that have curvature, and tails and bends of all sizes.
std::vector<LossExample> curved_examples() {
  std::vector<LossExample> examples;
  std::copy_if(loss_examples().begin(), loss_examples().end(), std::back_inserter(examples), has_curvature);
  for (const char* q : {"0.01", "0.1", "10", "100", "1000"}) {
    for (const char* smoothing : {"auto", "0", "0.004"}) {
      examples.push_back({fmt::format("dwd:{},{}", q, smoothing), {-1, 1}, {}, ""});
    }
  }
  examples.push_back({"dwd:1,1/2", {-1, 1}, {}, ""});
  examples.push_back({"pseudo-huber:0.7", {-3.5, 0, 0.25, 7}, {}, ""});
  return examples;
}

/// Scores at which losses are compared, ascending: near zero and as far as 10^6.
const Vector& scores() {
  static const Vector grid = [] {
    Vector values;
    for (int i = -4000; i <= 5000; ++i) values.push_back(0.001 * i + 1e-4 / 3);
    for (double size = 1e-6; size < 1e6; size *= 1.1) {
      values.push_back(size);
      values.push_back(-size);
    }
    std::sort(values.begin(), values.end());
    return values;
  }();
  return grid;
}

class AnyCurvedLoss : public testing::TestWithParam<LossExample> {
 protected:
  std::unique_ptr<CurvedLoss> loss_ = make_curved_loss(GetParam().spec, loss_table().with(pseudo_huber_row()));

  [[nodiscard]] Vector labels() const {
    Vector result;
    for (const double raw : GetParam().labels) result.push_back(loss_->label(raw));
    return result;
  }
  [[nodiscard]] double value(double score, double label) const { return loss_->value(View(&score, 1), label); }
  [[nodiscard]] double slope(double score, double label) const {
    double result = std::nan("");
    loss_->derivative(View(&score, 1), label, MutableView(&result, 1));
    return result;
  }
  /// The largest curvature near the best of `candidates`, found by looking ever closer.
  [[nodiscard]] double largest_curvature(Vector candidates, double label) const {
    double best = 0;
    for (double step = 1e-3; step > 1e-13; step /= 100) {
      const auto curvature_at = [&](double s) { return loss_->curvature(s, label); };
      const double at = *std::max_element(candidates.begin(), candidates.end(),
                                          [&](double a, double b) { return curvature_at(a) < curvature_at(b); });
      best = curvature_at(at);
      candidates.clear();
      for (int i = -150; i <= 150; ++i) candidates.push_back(at + 0.01 * i * step);
    }
    return best;
  }
};

TEST(CurvedLosses, OthersAreRefusedWithTheirNames) {
  const std::string curved = losses_that([](const Loss& loss) { return loss.curved() != nullptr; }).names();
  for (const LossExample& example : loss_examples()) {
    const std::string message = message_of<UsageError>([&] { return make_curved_loss(example.spec); });
    EXPECT_EQ(message, has_curvature(example)
                           ? ""
                           : fmt::format("loss '{}': it has no curvature, which a second-order method needs. Take one "
                                         "of: {}.",
                                         example.spec, curved));
  }
  EXPECT_THROW(static_cast<void>(make_curved_loss("parabola")), UsageError);
}

// A symmetric loss has one value on both sides of the label, any other has two somewhere.
TEST_P(AnyCurvedLoss, IsSymmetricIfItSaysSo) {
  bool symmetric = true;
  for (const double label : labels()) {
    for (const double distance : {0.3, 1.0, 8.0}) {
      const double above = value(label + distance, label);
      symmetric = symmetric && std::abs(above - value(label - distance, label)) <= 1e-12 * (1 + above);
    }
  }
  EXPECT_EQ(loss_->is_symmetric(), symmetric);
}

// By the mean value theorem the slope's growth over a short way lies between the curvatures on it, jumps or not.
TEST_P(AnyCurvedLoss, CurvatureIsTheSlopesDerivative) {
  const double tolerance = 1e-6 * (1 + loss_->most_curvature());
  for (const double label : labels()) {
    for (const double s : scores()) {
      const double h = 1e-7 * std::max(1.0, std::abs(s));
      const double growth = (slope(s + h, label) - slope(s - h, label)) / ((s + h) - (s - h));
      const auto [low, high] =
          std::minmax({loss_->curvature(s - h, label), loss_->curvature(s, label), loss_->curvature(s + h, label)});
      EXPECT_GE(growth, low - tolerance) << s;
      EXPECT_LE(growth, high + tolerance) << s;
    }
  }
}

TEST_P(AnyCurvedLoss, SlopeIsTheValuesDerivativeAndNeverFalls) {
  for (const double label : labels()) {
    double before = -INFINITY;
    for (const double s : scores()) {
      const double h = 1e-7 * std::max(1.0, std::abs(s));
      const double growth = (value(s + h, label) - value(s - h, label)) / ((s + h) - (s - h));
      const double tolerance = 2e-8 * (1 + std::abs(growth));
      EXPECT_GE(growth, slope(s - h, label) - tolerance) << s;
      EXPECT_LE(growth, slope(s + h, label) + tolerance) << s;
      EXPECT_GE(slope(s, label), before - 1e-15) << s;
      before = slope(s, label);
    }
  }
}

TEST_P(AnyCurvedLoss, MostCurvatureIsTheLeastUpperBound) {
  const double most = loss_->most_curvature();
  double largest = 0;
  for (const double label : labels()) {
    for (const double s : scores()) {
      EXPECT_GE(loss_->curvature(s, label), 0) << s;
      EXPECT_LE(loss_->curvature(s, label), most * (1 + 1e-12)) << s;
    }
    Vector candidates = scores();
    for (const double s : scores()) candidates.push_back(label + s);  // where regression losses curve most
    largest = std::max(largest, largest_curvature(std::move(candidates), label));
  }
  EXPECT_LE(largest, most * (1 + 1e-12));
  EXPECT_GE(largest, most * (1 - 1e-6));
}

TEST_P(AnyCurvedLoss, MostSlopeIsTheLeastUpperBound) {
  const double most = loss_->most_slope();
  double steepest = 0;
  for (const double label : labels()) {
    for (const double s : scores()) steepest = std::max(steepest, std::abs(slope(s, label)));
  }
  if (std::isinf(most)) {
    EXPECT_GT(steepest, 1e5);
  } else {
    EXPECT_LE(steepest, most);
    EXPECT_GE(steepest, most * (1 - 1e-9));
  }
}

INSTANTIATE_TEST_SUITE_P(Table, AnyCurvedLoss, testing::ValuesIn(curved_examples()),
                         [](const auto& row) { return test_name(row.param.spec); });

}  // namespace starling::curved_losses_test
