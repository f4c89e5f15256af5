#include <algorithm>
#include <cmath>
#include <string>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "data/generators/synthetic.hpp"
#include "support/testing.hpp"

namespace starling::two_gaussians_test {

using namespace testing_support;

std::unique_ptr<Generator> two_gaussians(const std::string& parameters, const Audience& audience = {}) {
  return make_generator("synthetic:two-gaussians" + (parameters.empty() ? "" : ":" + parameters), audience);
}

/// A record of client u in round t, its features multiplied by its label, the label appended.
Vector record(const Generator& generator, Client u, Round t) {
  Vector values(generator.features());
  AddressedRandom random(1, Purpose::data, static_cast<std::uint64_t>(u), static_cast<std::uint64_t>(t));
  const double y = generator.draw(t, u, random, values);
  EXPECT_TRUE(y == 1 || y == -1);
  for (double& value : values) value *= y;
  values.push_back(y);
  return values;
}

constexpr Round draws = 100'000;
/// Of a normal deviate: exceeded with probability 4e-8. Fewer than 100 comparisons are made with it in this file, so a
/// sound generator fails with probability below 4e-6 over seeds (and the seed is fixed).
constexpr double deviations = 5.5;
const double root_draws = std::sqrt(static_cast<double>(draws));

/// The first two moments of y x in three coordinates, and the share of label 1. A sample mean deviates by σ/√n, a
/// second moment by √2 σ²/√n, a product of two coordinates by σ²/√n.
void expect_moments(const std::string& parameters, double mu, double sigma, double positive) {
  const auto generator = two_gaussians("p=3," + parameters);
  Vector mean(3);
  Vector square(3);
  double product = 0;
  double ones = 0;
  for (Round t = 1; t <= draws; ++t) {
    const Vector values = record(*generator, 0, t);
    for (std::size_t j = 0; j < 3; ++j) {
      mean[j] += values[j] / static_cast<double>(draws);
      square[j] += (values[j] - mu) * (values[j] - mu) / static_cast<double>(draws);
    }
    product += (values[0] - mu) * (values[2] - mu) / static_cast<double>(draws);
    ones += values[3] > 0 ? 1.0 / static_cast<double>(draws) : 0;
  }
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_NEAR(mean[j], mu, deviations * sigma / root_draws) << parameters;
    EXPECT_NEAR(square[j], sigma * sigma, deviations * std::sqrt(2) * sigma * sigma / root_draws) << parameters;
  }
  EXPECT_NEAR(product, 0, deviations * sigma * sigma / root_draws) << parameters;
  EXPECT_NEAR(ones, positive, deviations * std::sqrt(positive * (1 - positive)) / root_draws) << parameters;
}

TEST(TwoGaussians, HaveTheMomentsAskedFor) {
  expect_moments("mu=0.2", 0.2, 1, 0.5);
  expect_moments("mu=-1,sigma=0.5,ratio=4/1", -1, 0.5, 0.8);
  expect_moments("sigma=3,ratio=1/9", 0.2, 3, 0.1);
}

TEST(TwoGaussians, TakeTheirParameters) {
  EXPECT_EQ(two_gaussians("")->features(), 50U);
  EXPECT_EQ(two_gaussians("")->records(), 0);
  EXPECT_EQ(two_gaussians("7,n=9")->features(), 7U);
  EXPECT_EQ(two_gaussians("7,n=9")->records(), 9);
}

// With σ = 0 features are the client's μ itself: in the range, its own, the same in every round and however many
// clients there are, and uniform over clients (mean 0.15, deviation 0.3/√12).
TEST(TwoGaussians, ClientsHaveMeansOfTheirOwn) {
  constexpr Client clients = 10'000;
  const auto generator = two_gaussians("p=2,mu=0..0.3,sigma=0", {clients, 3});
  const auto elsewhere = two_gaussians("p=2,mu=0..0.3,sigma=0,ratio=2", {1, 3});
  const auto seeded = two_gaussians("p=2,mu=0..0.3,sigma=0", {clients, 4});
  double mean = 0;
  Vector seen;
  for (Client u = 0; u < clients; ++u) {
    const double mu = record(*generator, u, 1)[0];
    EXPECT_TRUE(mu >= 0 && mu <= 0.3) << mu;
    EXPECT_EQ(record(*generator, u, 5)[1], mu);
    EXPECT_EQ(record(*elsewhere, u, 8)[0], mu);
    EXPECT_NE(record(*seeded, u, 1)[0], mu);
    mean += mu / static_cast<double>(clients);
    seen.push_back(mu);
  }
  EXPECT_NEAR(mean, 0.15, deviations * 0.3 / std::sqrt(12.0 * static_cast<double>(clients)));
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
}

// The deviation within one wide record tells σ to within √(σ²/2p), 0.5 % at p = 20,000.
TEST(TwoGaussians, ClientsHaveDeviationsOfTheirOwn) {
  const auto generator = two_gaussians("p=20000,mu=0,sigma=1..3", {4, 1});
  const auto both = two_gaussians("p=20000,mu=-0.5..0.5,sigma=1..3", {4, 1});
  const auto deviation = [](const Generator& from, Client u, Round t) {
    const Vector values = record(from, u, t);
    const View x = View(values).first(20000);
    const double mean = sum(x) / 20000;
    return std::sqrt(dot(x, x) / 20000 - mean * mean);
  };
  Vector seen;
  for (Client u = 0; u < 4; ++u) {
    const double sigma = deviation(*generator, u, 1);
    EXPECT_TRUE(sigma > 0.97 && sigma < 3.09) << sigma;
    EXPECT_NEAR(deviation(*generator, u, 2) / sigma, 1, 2 * deviations * 0.005);
    EXPECT_NEAR(deviation(*both, u, 1) / sigma, 1, 2 * deviations * 0.005);  // whether μ has a range or not
    seen.push_back(sigma);
  }
  const auto [least, most] = std::minmax_element(seen.begin(), seen.end());
  EXPECT_GT(*most - *least, 0.2);
}

TEST(TwoGaussians, TakeTurnsInATestSet) {
  const auto streams = two_gaussians("p=1,mu=0..1,sigma=0", {3, 5});
  const auto test = two_gaussians("p=1,mu=0..1,sigma=0", {1, 5, 3});
  for (Client i = 0; i < 9; ++i) EXPECT_EQ(record(*test, 0, i + 1)[0], record(*streams, i % 3, 1)[0]) << i;
}

TEST(TwoGaussians, RefuseWhatTheyCannotDraw) {
  const auto error = [](const std::string& parameters) {
    return message_of<UsageError>([&] { return two_gaussians(parameters); });
  };
  EXPECT_THAT(error("p=0"), HasSubstr("p=0: it must lie between 1 and"));
  EXPECT_THAT(error("sigma=-1"), HasSubstr("sigma=-1: it must lie between 0 and 1000000, and a range"));
  EXPECT_THAT(error("mu=nan"), HasSubstr("mu=nan: it must lie between -1000000 and 1000000, and a range"));
  EXPECT_THAT(error("mu=0.3..0.1"), HasSubstr("mu=0.3..0.1: it must lie between"));
  EXPECT_THAT(error("mu=0..x"), HasSubstr("mu: 'x' is not a number"));
  EXPECT_THAT(error("mu=0.."), HasSubstr("mu: '' is not a number"));
  EXPECT_THAT(error("ratio=0/1"), HasSubstr("ratio=0: it must lie between"));
  EXPECT_THAT(error("ratio=1/0"), HasSubstr("divides by zero"));
  EXPECT_THAT(error("n=-1"), HasSubstr("n=-1: it must lie between 0 and"));
}

}  // namespace starling::two_gaussians_test
