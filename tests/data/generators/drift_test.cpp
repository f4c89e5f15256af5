#include <cmath>
#include <numbers>
#include <string>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "data/generators/synthetic.hpp"
#include "support/testing.hpp"

namespace starling::drift_test {

using namespace testing_support;

/// E[a/‖a‖] = factor · μ for a ~ N(μ, I) in d dimensions: Γ((d+1)/2) / (√2 Γ(d/2+1)) · ₁F₁(1/2; d/2+1; −‖μ‖²/2), the
/// mean of a projected normal distribution. The series is summed after Kummer's transformation, where no term is
/// negative.
double mean_factor(double d, double squared_norm) {
  const double x = squared_norm / 2;
  const double a = (d + 1) / 2;
  const double b = d / 2 + 1;
  double term = 1;
  double series = 1;
  for (int k = 0; k < 500; ++k) {
    term *= (a + k) / (b + k) * x / (k + 1);
    series += term;
  }
  return std::exp(std::lgamma(a) - std::lgamma(b) - x) / std::numbers::sqrt2 * series;
}

TEST(MeanFactor, IsTheErrorFunctionInOneDimension) {
  for (const double mu : {0.1, 1.0, 3.0})
    EXPECT_NEAR(mu * mean_factor(1, mu * mu), std::erf(mu / std::sqrt(2.0)), 1e-12);
}

/// Means of the rows by label, over one draw for each of many clients at round t.
struct Means {
  std::vector<Vector> mean;  // of label −1, of label 1
  double positive = 0;       // share of label 1
};

constexpr std::size_t draws = 100'000;

Means sample(const Generator& generator, Round t) {
  const std::size_t d = generator.features();
  Means result{{Vector(d), Vector(d)}, 0};
  Vector row(d);
  Vector count(2);
  for (std::size_t client = 0; client < draws; ++client) {
    AddressedRandom random(1, Purpose::data, client, static_cast<std::uint64_t>(t));
    const double y = generator.draw(t, static_cast<Client>(client), random, row);
    EXPECT_TRUE(y == 1 || y == -1);
    EXPECT_NEAR(norm2(row), 1, 1e-14);
    const std::size_t k = y > 0 ? 1 : 0;
    ++count[k];
    axpy(1, row, result.mean[k]);
  }
  for (std::size_t k = 0; k < 2; ++k) scale(1 / count[k], result.mean[k]);
  result.positive = count[1] / static_cast<double>(draws);
  return result;
}

/// Coordinates lie in [−1, 1]. By Hoeffding a mean of n ≥ 45,000 of them is off by more than h with probability at most
/// 2 exp(−n h²/2), 4e-8 for h = 0.028; fewer than 100 are compared here, so a sound generator fails with probability
/// below 1e-5 over seeds (and the seed is fixed). n ≥ 45,000 and a share of labels within 0.01 of 1/2: 2
/// exp(−2·10^5·10^-4), 5e-9.
constexpr double allowed = 0.028;

void expect_mean(const Vector& observed, const Vector& mu) {
  const double factor = mean_factor(static_cast<double>(mu.size()), dot(mu, mu));
  for (std::size_t j = 0; j < mu.size(); ++j) EXPECT_NEAR(observed[j], factor * mu[j], allowed) << "coordinate " << j;
}

TEST(Drift, PlainMeansMoveWithTheRound) {
  const auto drift = generator_table().make("drift", {});
  EXPECT_EQ(drift->features(), 5U);
  EXPECT_EQ(drift->records(), 0);
  for (const Round t : {1, 4}) {
    const Means means = sample(*drift, t);
    EXPECT_NEAR(means.positive, 0.5, 0.01);
    expect_mean(means.mean[0], Vector(5, -1 + 0.5 * static_cast<double>(t)));
    expect_mean(means.mean[1], Vector(5, 1 + 0.5 * static_cast<double>(t)));
  }
}

TEST(Drift, InformativeKeepsTheLabelsDirection) {
  const auto drift = generator_table().make("drift:d=6,informative=1,n=9", {});
  EXPECT_EQ(drift->features(), 6U);
  EXPECT_EQ(drift->records(), 9);
  const double h = std::numbers::sqrt2 / 2;
  for (const auto& [t, wave] : {std::pair<Round, double>{25, 0.5}, {75, -0.5}, {100, 0.0}}) {
    const Means means = sample(*drift, t);
    EXPECT_NEAR(means.positive, 0.5, 0.01);
    expect_mean(means.mean[0], {-h, -h, wave * h, wave * h, 0, 0});
    expect_mean(means.mean[1], {h, h, wave * h, wave * h, 0, 0});
  }
}

TEST(Drift, RefusesWhatItCannotDraw) {
  const auto error = [](const std::string& spec) {
    return message_of<UsageError>([&spec] { return generator_table().make(spec, {}); });
  };
  EXPECT_THAT(error("drift:d=3,informative=1"), HasSubstr("d=3: informative=1 has directions in four coordinates."));
  EXPECT_THAT(error("drift:d=0"), HasSubstr("d=0: it must lie between 1 and"));
  EXPECT_THAT(error("drift:n=-1"), HasSubstr("n=-1: it must lie between 0 and"));
  EXPECT_THAT(error("drift:informative=2"), HasSubstr("informative=2: it must lie between 0 and 1."));
  EXPECT_THAT(error("drift:sigma=2"), HasSubstr("unknown key 'sigma'"));
}

}  // namespace starling::drift_test
