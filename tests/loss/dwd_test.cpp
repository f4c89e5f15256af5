/// The distance-weighted discriminant's loss: its formulas, its bends and its extremes.
#include <cmath>
#include <gmock/gmock.h>

#include "loss/loss.hpp"
#include "support/testing.hpp"

namespace starling::dwd_test {

using testing::HasSubstr;
using testing_support::message_of;

double value(const CurvedLoss& loss, double margin) {
  return loss.value(View(&margin, 1), 1);
}
double slope(const CurvedLoss& loss, double margin) {
  double result = std::nan("");
  loss.derivative(View(&margin, 1), 1, MutableView(&result, 1));
  return result;
}
/// u₀, where the tail begins.
double turn(double q) {
  return q / (q + 1);
}

constexpr double all_q[] = {0.01, 0.1, 0.5, 1, 2, 10, 100, 1000};

// q = 1: 1/(4u) beyond 1/2.
TEST(Dwd, HasItsKnownValues) {
  const auto loss = make_curved_loss("dwd");
  EXPECT_DOUBLE_EQ(value(*loss, 2), 0.125);
  EXPECT_DOUBLE_EQ(slope(*loss, 2), -1.0 / 16);
  EXPECT_DOUBLE_EQ(loss->curvature(2, 1), 1.0 / 16);
  EXPECT_DOUBLE_EQ(loss->curvature(-2, -1), 1.0 / 16);
  EXPECT_EQ(loss->curvature(-2, 1), 0);
  EXPECT_EQ(slope(*loss, -2), -1);
  EXPECT_NEAR(value(*loss, -2), 3, 1e-4);
  EXPECT_EQ(loss->label(0), -1);
  const auto exact = make_curved_loss("dwd:smoothing=0");
  EXPECT_EQ(value(*exact, -2), 3);
  EXPECT_EQ(value(*exact, 0.5), 0.5);
  EXPECT_EQ(exact->curvature(0.5, 1), 4);
  EXPECT_EQ(exact->curvature(0.4999, 1), 0);
  EXPECT_EQ(exact->most_curvature(), 4);
}

TEST(Dwd, IsTheFormulaOutsideItsBend) {
  for (const double q : all_q) {
    for (const char* smoothing : {"auto", "0", "paper", "0.003"}) {
      const auto loss = make_curved_loss(fmt::format("dwd:q={},smoothing={}", q, smoothing));
      const auto p = static_cast<long double>(q);
      for (double u = turn(q) + 0.0101; u < 1e4; u *= 1.3) {
        // u^{−q} q^q / (q+1)^{q+1}, by logarithms
        const long double expected = std::exp(p * std::log(p / (p + 1) / static_cast<long double>(u))) / (p + 1);
        const auto near = [&](double observed, long double exact) {
          EXPECT_NEAR(observed, static_cast<double>(exact), 1e-12 * static_cast<double>(exact) + 1e-300)
              << q << " " << u;
        };
        near(value(*loss, u), expected);
        near(-slope(*loss, u), expected * p / static_cast<long double>(u));
        near(loss->curvature(u, 1), expected * p * (p + 1) / static_cast<long double>(u) / static_cast<long double>(u));
      }
    }
  }
}

TEST(Dwd, ExactHasTheCurvatureOfItsMajoriser) {
  for (const double q : all_q) {
    const double most = make_curved_loss(fmt::format("dwd:{},0", q))->most_curvature();
    EXPECT_NEAR(most, (q + 1) * (q + 1) / q, 1e-12 * most);
  }
}

// Slope and curvature run on without a jump at both ends of the bend, and the value is V_q beyond it.
TEST(Dwd, BendsSmoothly) {
  for (const double q : all_q) {
    const auto exact = make_curved_loss(fmt::format("dwd:{},0", q));
    const double half_width = std::min(0.01, turn(q) / 2);
    const auto loss = make_curved_loss(fmt::format("dwd:{}", q));
    const double scale = exact->most_curvature();
    for (const double end : {turn(q) - half_width, turn(q) + half_width}) {
      EXPECT_NEAR(slope(*loss, end - 1e-9), slope(*exact, end), 1e-8 * scale);
      EXPECT_NEAR(slope(*loss, end + 1e-9), slope(*exact, end), 1e-8 * scale);
      EXPECT_NEAR(loss->curvature(end - 1e-9, 1), exact->curvature(end, 1), 1e-4 * scale);
      EXPECT_NEAR(loss->curvature(end + 1e-9, 1), exact->curvature(end, 1), 1e-4 * scale);
    }
    EXPECT_EQ(value(*loss, turn(q) + 0.011), value(*exact, turn(q) + 0.011));
    EXPECT_NEAR(value(*loss, -1e3) - value(*exact, -1e3), value(*loss, 0) - value(*exact, 0), 1e-12);
    EXPECT_LE(std::abs(value(*loss, 0) - value(*exact, 0)), half_width);
  }
}

// The formulas above (8) and (8) of the paper, as printed.
TEST(Dwd, PaperIsThePrintedFormula) {
  for (const double q : all_q) {
    const auto loss = make_curved_loss(fmt::format("dwd:{},paper", q));
    const double u0 = turn(q);
    const double e = std::min(0.01, u0 / 2);
    const double k = (q + 1) * std::pow(u0, q + 1) / std::pow(u0 + e, q + 2);
    const double a = k / (4 * e);
    const double b = k / 2;
    const double c = -1 + e * k / 4;
    for (double share = -0.99; share < 1; share += 0.11) {
      const double d = share * e;
      EXPECT_NEAR(slope(*loss, u0 + d), a * d * d + b * d + c, 1e-11);
      EXPECT_NEAR(loss->curvature(u0 + d, 1), 2 * a * d + b, 1e-11 * k);
      EXPECT_EQ(value(*loss, u0 + d), value(*make_curved_loss(fmt::format("dwd:{},0", q)), u0 + d));
    }
    EXPECT_EQ(slope(*loss, u0 - 1.01 * e), -1);
    EXPECT_EQ(loss->curvature(u0 - 1.01 * e, 1), 0);
    EXPECT_NEAR(loss->most_curvature(), k, 1e-11 * k);
    EXPECT_LE(loss->curvature(u0 + e, 1), loss->most_curvature());
    EXPECT_EQ(loss->most_slope(), 1);
  }
}

TEST(Dwd, PaperJumpsAndTheCubicDoesNot) {
  const double end = turn(100) + 0.01;
  const auto jump = [end](const char* spec) {
    const auto loss = make_curved_loss(spec);
    return slope(*loss, end + 1e-12) - slope(*loss, end - 1e-12);
  };
  EXPECT_NEAR(jump("dwd:100,paper"), 0.27, 0.005);
  EXPECT_NEAR(jump("dwd:100"), 0, 1e-9);
}

TEST(Dwd, StaysFiniteFarOut) {
  for (const double q : {1e-100, 0.01, 1.0, 1000.0, 1e100}) {
    for (const char* smoothing : {"auto", "0", "paper"}) {
      const auto loss = make_curved_loss(fmt::format("dwd:{},{}", q, smoothing));
      EXPECT_TRUE(std::isfinite(loss->most_curvature()));
      for (const double u : {-1e300, -1.0, 0.0, 1e-300, 0.5, 1.0, 1e5, 1e300}) {
        EXPECT_TRUE(std::isfinite(value(*loss, u))) << q << " " << u;
        EXPECT_GE(value(*loss, u), 0) << q << " " << u;
        EXPECT_LE(std::abs(slope(*loss, u)), 1) << q << " " << u;
        EXPECT_LE(slope(*loss, u), 0) << q << " " << u;
        EXPECT_TRUE(loss->curvature(u, 1) >= 0 && std::isfinite(loss->curvature(u, 1))) << q << " " << u;
      }
      EXPECT_TRUE(std::isnan(value(*loss, std::nan(""))));
      EXPECT_TRUE(std::isnan(slope(*loss, std::nan(""))));
      EXPECT_TRUE(std::isnan(loss->curvature(std::nan(""), 1)));
    }
  }
}

TEST(Dwd, RefusesWhatItCannotBe) {
  const auto error = [](const char* spec) {
    return message_of<UsageError>([spec] { return loss_table().make(spec); });
  };
  for (const char* spec : {"dwd:0", "dwd:-1", "dwd:inf", "dwd:nan", "dwd:1e-200"}) {
    EXPECT_THAT(error(spec), HasSubstr("q must be positive and finite")) << spec;
  }
  for (const char* spec : {"dwd:1,-0.1", "dwd:1,0.6", "dwd:1,nan", "dwd:1,inf"}) {
    EXPECT_THAT(error(spec), HasSubstr("it must lie between 0 and q/(q+1) = 0.5.")) << spec;
  }
  EXPECT_THAT(error("dwd:smoothing=smooth"), HasSubstr("smoothing=smooth: it is not known. Give auto, 0, paper or"));
  EXPECT_THAT(error("dwd:power=2"), HasSubstr("unknown key 'power'"));
}

}  // namespace starling::dwd_test
