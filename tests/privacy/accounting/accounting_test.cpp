#include "privacy/accounting/accounting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>

#include "core/check.hpp"
#include "support/testing.hpp"

namespace starling::accounting_test {

using namespace testing_support;

constexpr double infinity = std::numeric_limits<double>::infinity();

double epsilon_of(const std::vector<ChargeGroup>& groups, double delta) {
  return compose(groups, delta).epsilon;
}

std::vector<ChargeGroup> same(const Charge& charge, std::int64_t count) {
  return {{charge, count}};
}

// The reference cases, as text: "b=1 sensitivity=1 epsilon=0".

class Parameters {
 public:
  explicit Parameters(const std::string& text) {
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      const auto equals = word.find('=');
      values_[word.substr(0, equals)] = equals == std::string::npos ? "" : word.substr(equals + 1);
    }
  }
  [[nodiscard]] double operator[](const std::string& key) const {
    const std::string& text = values_.at(key);
    if (text.starts_with("sqrt(")) return std::sqrt(std::stod(text.substr(5)));
    if (text.starts_with("ln")) return std::log(std::stod(text.substr(2)));
    return std::stod(text);
  }
  [[nodiscard]] bool has(const std::string& key) const { return values_.contains(key); }
  [[nodiscard]] std::string text(const std::string& key) const { return values_.at(key); }
  [[nodiscard]] std::int64_t count(const std::string& key) const { return static_cast<std::int64_t>((*this)[key]); }

 private:
  std::map<std::string, std::string> values_;
};

/// t = 1..50, at a rate of first·t^power.
std::vector<ChargeGroup> falling(Charge (*charge)(double), double first) {
  std::vector<ChargeGroup> groups;
  for (int t = 1; t <= 50; ++t) groups.push_back({charge(first / std::sqrt(t)), 1});
  return groups;
}

using Case = double (*)(const Parameters&);
const std::map<std::string, Case>& cases() {
  static const std::map<std::string, Case> all{
      {"gaussian-delta", [](const Parameters& p) { return gaussian_delta(p["sensitivity_over_sigma"], p["epsilon"]); }},
      {"gaussian-compose-mu",
       [](const Parameters& p) {
         return compose(same(Charge::gaussian(1 / p["sigma"]), p.count("releases")), 1e-5).mu.value();
       }},
      {"gaussian-renyi-epsilon",
       [](const Parameters& p) {
         return compose(same(Charge::gaussian(1 / p["sigma"]), 1), p["delta"]).renyi.value();
       }},
      {"laplace-calibrate",
       [](const Parameters& p) { return 1 / largest_laplace_epsilon(p["epsilon"], p["delta"], p.count("releases")); }},
      {"gaussian-calibrate",
       [](const Parameters& p) { return p["sensitivity"] / largest_gaussian_mu(p["epsilon"], p["delta"], 1); }},
      {"laplace-compose",
       [](const Parameters& p) {
         if (p.has("epsilon_t")) return epsilon_of(falling(&Charge::laplace, 0.5), p["delta"]);
         return epsilon_of(same(Charge::laplace(p["epsilon"]), p.count("releases")), p["delta"]);
       }},
      {"gaussian-compose",
       [](const Parameters& p) {
         if (p.has("sigma_t")) return epsilon_of(falling(&Charge::gaussian, 0.5), p["delta"]);
         return epsilon_of(same(Charge::gaussian(1 / p["sigma"]), p.count("releases")), p["delta"]);
       }},
  };
  return all;
}

TEST(Accounting, MeetsEveryReferenceFigure) {
  const std::string path = shared_folder() + "/vectors/accounting.csv";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "the reference figures are not here";
  std::ifstream file(path);
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    std::vector<std::string> cells;
    std::istringstream text(line);
    for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
    ASSERT_GE(cells.size(), 5U) << line;
    if (cells[0] == "renyi-to-dp") continue;            // at given orders: `compose` looks for the best of all
    if (cells[0].ends_with("laplace-delta")) continue;  // of single releases: `compose` gives ε for δ
    ASSERT_TRUE(cases().contains(cells[0])) << line;
    const Parameters parameters(cells[1]);
    EXPECT_TRUE(!parameters.has("epsilon_t") || parameters.text("epsilon_t") == "0.5/sqrt(t)") << line;
    EXPECT_TRUE(!parameters.has("sigma_t") || parameters.text("sigma_t") == "2*sqrt(t)") << line;
    EXPECT_NEAR(cases().at(cells[0])(parameters), std::stod(cells[3]), std::stod(cells[4])) << line;
    ++rows;
  }
  EXPECT_GE(rows, 15);
}

/// The figures that matter most, also where the reference file is not.
TEST(Accounting, MeetsFiguresOfTheField) {
  EXPECT_NEAR(gaussian_delta(1, 1), 0.12693674, 1e-7);
  EXPECT_NEAR(gaussian_delta(3, 1), 0.78760074, 1e-7);
  EXPECT_NEAR(1 / gaussian_mu(std::log(3), 1e-5), 3.42466240, 1e-6);
  EXPECT_NEAR(epsilon_of(same(Charge::laplace(0.1), 50), 1e-5), 2.7966, 0.012);
  EXPECT_NEAR(epsilon_of(same(Charge::laplace(0.1), 50), 1e-6), 3.1207, 0.012);
  EXPECT_NEAR(epsilon_of(same(Charge::laplace(0.5), 100), 1e-6), 30.4837, 0.02);
  EXPECT_NEAR(epsilon_of(falling(&Charge::laplace, 0.5), 1e-5), 4.0183, 0.02);
  EXPECT_NEAR(epsilon_of(same(Charge::gaussian(0.2), 50), 1e-5), 6.57297007, 1e-6);
  EXPECT_NEAR(1 / largest_laplace_epsilon(1, 1e-4, 20), 13.6, 0.1);
  EXPECT_NEAR(1 / largest_laplace_epsilon(1, 1e-4, 500), 71.0, 0.1);
}

// Single curves.

TEST(GaussianCurve, HoldsInTheTails) {
  // Φ(−x)/φ(x) ~ 1/x − 1/x³ + 3/x⁵: δ at μ = 1, ε = 36.5, where x = 36 and y = 37.
  const auto mills = [](double x) { return 1 / x - std::pow(x, -3) + 3 * std::pow(x, -5) - 15 * std::pow(x, -7); };
  const double density = std::exp(-36.0 * 36.0 / 2) / std::sqrt(2 * std::acos(-1.0));
  EXPECT_NEAR(gaussian_delta(1, 36.5) / (density * (mills(36) - mills(37))), 1, 1e-6);
  EXPECT_NEAR(gaussian_epsilon(1, gaussian_delta(1, 36.5)), 36.5, 1e-9);
  EXPECT_NEAR(gaussian_epsilon(1, 1e-300), 37.4488, 1e-3);
  EXPECT_NEAR(gaussian_delta(1e-6, 0) / (1e-6 / std::sqrt(2 * std::acos(-1.0))), 1, 1e-9);  // Φ(μ/2) − Φ(−μ/2)
  EXPECT_EQ(gaussian_delta(1e4, 1), 1);
}

TEST(GaussianCurve, InversesAreRoundedTowardsMoreLoss) {
  for (const double mu : {1e-4, 0.1, 1.0, 7.0, 30.0}) {
    for (const double delta : {0.3, 1e-3, 1e-9, 1e-200}) {
      const double epsilon = gaussian_epsilon(mu, delta);
      EXPECT_LE(gaussian_delta(mu, epsilon), delta * (1 + 1e-12));
      if (epsilon == 0) continue;
      EXPECT_GT(gaussian_delta(mu, epsilon * (1 - 1e-6)), delta);
      const double back = gaussian_mu(epsilon, delta);
      EXPECT_NEAR(back / mu, 1, 1e-9);
      EXPECT_LE(gaussian_epsilon(back, delta), epsilon);
    }
  }
  EXPECT_EQ(gaussian_epsilon(1, 0), infinity);
  EXPECT_EQ(gaussian_epsilon(0, 0), 0);
  EXPECT_EQ(gaussian_epsilon(0.1, 0.9), 0);
  EXPECT_THROW((void)gaussian_mu(1, 0), UsageError);
  EXPECT_THROW((void)gaussian_mu(-1, 0.1), UsageError);
  EXPECT_THROW((void)gaussian_delta(std::nan(""), 0.1), UsageError);
}

// Composition.

TEST(Compose, WithoutDeltaAddsUpPureLosses) {
  const auto loss = compose(std::vector<ChargeGroup>{{Charge::laplace(0.25), 4}, {Charge::pure(0.5), 3}}, 0);
  EXPECT_EQ(loss.epsilon, 2.5);
  EXPECT_EQ(loss.method, "pure");
  EXPECT_FALSE(loss.renyi.has_value());
  EXPECT_FALSE(loss.mu.has_value());
  EXPECT_GE(epsilon_of(same(Charge::laplace(0.1), 3), 0), 3 * static_cast<long double>(0.1));
  EXPECT_EQ(epsilon_of(same(Charge::laplace(0.1), 1), 0), 0.1);
  EXPECT_EQ(epsilon_of(same(Charge::gaussian(0.1), 1), 0), infinity);
  EXPECT_EQ(epsilon_of(same(Charge::approximate(0.1, 1e-9), 1), 0), infinity);
  EXPECT_EQ(epsilon_of(same(Charge::approximate(0.1, 0), 2), 0), 0.2);
}

TEST(Compose, GaussianChargesAddUpInSquares) {
  const auto loss = compose(std::vector<ChargeGroup>{{Charge::gaussian(0.3), 1}, {Charge::gaussian(0.4), 1}}, 1e-5);
  EXPECT_NEAR(loss.mu.value(), 0.5, 1e-15);
  EXPECT_GE(loss.mu.value(), 0.5);
  EXPECT_EQ(loss.epsilon, gaussian_epsilon(loss.mu.value(), 1e-5));
  EXPECT_GT(loss.renyi.value(), loss.epsilon);
  EXPECT_EQ(loss.method, "gdp");
}

/// Of one Gaussian release the divergence of order α is α μ²/2.
TEST(Compose, RenyiIsThatOfTheBestOrder) {
  for (const double delta : {1e-3, 1e-6}) {
    double best = infinity;
    for (double order = 1.001; order < 200; order *= 1.0001) {
      best = std::min(best, order * 0.045 + std::log1p(-1 / order) - std::log(delta * order) / (order - 1));
    }
    EXPECT_NEAR(compose(same(Charge::gaussian(0.3), 1), delta).renyi.value(), best, 1e-6 * best) << delta;
  }
}

TEST(Compose, OfNothingOrOfWhatIsUnbounded) {
  EXPECT_EQ(compose({}, 1e-5).method, "none");
  EXPECT_EQ(compose({}, 1e-5).epsilon, 0);
  EXPECT_EQ(epsilon_of(same(Charge::unbounded(), 0), 1e-5), 0);
  EXPECT_EQ(epsilon_of(same(Charge::unbounded(), 1), 0.5), infinity);
  EXPECT_EQ(compose(same(Charge::unbounded(), 1), 0.5).method, "none");
  EXPECT_EQ(epsilon_of({{Charge::laplace(1), 1}, {Charge::unbounded(), 1}}, 0.5), infinity);
  EXPECT_EQ(epsilon_of(same(Charge::laplace(infinity), 1), 0.5), infinity);
  EXPECT_EQ(epsilon_of(same(Charge::pure(0), 5), 1e-5), 0);
  EXPECT_EQ(epsilon_of(same(Charge::laplace(3), 5), 1), 0);
}

TEST(Compose, RefusesWhatIsNoLoss) {
  for (const double delta : {-0.1, 1.1, std::nan("")}) {
    EXPECT_THROW((void)compose(same(Charge::pure(1), 1), delta), UsageError);
  }
  for (const Charge& charge : {Charge::pure(-1), Charge::laplace(std::nan("")), Charge::gaussian(-0.1),
                               Charge::approximate(1, 2), Charge::approximate(1, -1)}) {
    EXPECT_THROW((void)compose(same(charge, 1), 1e-5), UsageError);
  }
  EXPECT_THROW((void)compose(same(Charge::pure(1), -1), 1e-5), UsageError);
}

/// Failures come first: at δ = Σ δ_i the rest is pure; below that nothing is left; above, it helps.
TEST(Compose, ApproximateChargesLoseTheirDelta) {
  const std::vector<ChargeGroup> groups = same(Charge::approximate(0.1, 1e-8), 50);
  EXPECT_EQ(epsilon_of(groups, 4e-7), infinity);
  const auto own = compose(groups, 50 * 1e-8);
  EXPECT_LE(own.epsilon, 5);  // 1 − (1 − δ)^50 is less than 50 δ: something is left
  EXPECT_GT(own.epsilon, 4);
  const auto more = compose(groups, 1e-5);
  EXPECT_EQ(more.method, "pld");
  EXPECT_LT(more.epsilon, 3);
  EXPECT_GE(more.epsilon, epsilon_of(same(Charge::pure(0.1), 50), 1e-5));
  EXPECT_LE(more.epsilon, epsilon_of(same(Charge::pure(0.1), 50), 9.4e-6));
  // A single one is what it says; sums may come rounded.
  EXPECT_EQ(epsilon_of(same(Charge::approximate(0.1, 2.376e-7), 1), 2.376e-7), 0.1);
  const auto tiny = compose(same(Charge::approximate(0.1, 1e-30), 3), 1e-30 + 1e-30 + 1e-30);
  EXPECT_NEAR(tiny.epsilon, 0.3, 1e-12);
  EXPECT_NEAR(tiny.delta / 3e-30, 1, 1e-12);
}

/// The truth is known where the loss of one release is: ε' = ε + 2 ln(1 − δ).
TEST(Compose, OneLaplaceRelease) {
  for (const double epsilon : {0.01, 1.0, 30.0}) {
    for (const double delta : {1e-9, 1e-4, 1e-3}) {
      const double truth = epsilon + 2 * std::log1p(-delta);
      const double found = epsilon_of(same(Charge::laplace(epsilon), 1), delta);
      EXPECT_GE(found, truth * (1 - 1e-15)) << epsilon << ' ' << delta;
      EXPECT_LE(found, std::min(epsilon, truth + 1e-5 * epsilon)) << epsilon << ' ' << delta;
    }
  }
}

TEST(Compose, NeverBeyondRenyiNorThePureSum) {
  const std::vector<std::vector<ChargeGroup>> all{
      same(Charge::laplace(0.1), 1000),
      same(Charge::laplace(5), 3),
      same(Charge::pure(0.02), 300),
      {{Charge::laplace(0.1), 10}, {Charge::gaussian(0.1), 10}},
      {{Charge::laplace(1e-6), 10}, {Charge::laplace(2), 2}, {Charge::approximate(0.1, 1e-12), 5}},
  };
  for (const auto& groups : all) {
    for (const double delta : {0.1, 1e-3, 1e-6, 1e-11, 1e-30, 1e-300}) {
      const auto loss = compose(groups, delta);
      if (!std::isfinite(loss.epsilon)) continue;  // δ below what the charges lose
      EXPECT_LE(loss.epsilon, loss.renyi.value_or(infinity));
      const bool gaussian = std::any_of(groups.begin(), groups.end(), [](const ChargeGroup& group) {
        return group.charge.kind == ChargeKind::gaussian;
      });
      double sum = gaussian ? infinity : 0;
      for (const ChargeGroup& group : groups) sum += static_cast<double>(group.count) * group.charge.epsilon;
      EXPECT_LE(loss.epsilon, sum * (1 + 1e-12));
    }
  }
}

TEST(Compose, GrowsWithCountsAndFallsWithDelta) {
  double before = 0;
  for (const std::int64_t count : {1, 2, 3, 5, 10, 20, 21, 50, 100, 1000}) {
    const double epsilon = epsilon_of(same(Charge::laplace(0.05), count), 1e-6);
    EXPECT_GT(epsilon, before) << count;
    before = epsilon;
  }
  before = infinity;
  for (const double delta : {1e-300, 1e-100, 1e-30, 1e-15, 1e-9, 1e-5, 1e-2, 0.2}) {
    const double epsilon = epsilon_of(same(Charge::laplace(0.05), 5000), delta);
    EXPECT_LT(epsilon, before) << delta;
    before = epsilon;
  }
}

TEST(Compose, TheOrderOfGroupsDoesNotMatter) {
  std::vector<ChargeGroup> groups{{Charge::laplace(0.1), 10},          {Charge::gaussian(0.3), 2},
                                  {Charge::approximate(0.2, 1e-9), 3}, {Charge::pure(0.1), 4},
                                  {Charge::laplace(0.02), 7},          {Charge::gaussian(0.1), 5}};
  const auto first = compose(groups, 1e-5);
  for (int turn = 0; turn < 5; ++turn) {
    std::rotate(groups.begin(), groups.begin() + 1, groups.end());
    const auto again = compose(groups, 1e-5);
    EXPECT_EQ(again.epsilon, first.epsilon);
    EXPECT_EQ(again.renyi, first.renyi);
  }
  groups[0].count -= 1;
  groups.push_back({groups[0].charge, 1});
  EXPECT_NEAR(epsilon_of(groups, 1e-5), first.epsilon, 1e-12);
}

/// Laplace noise of small ε is like Gaussian noise of μ = ε, a little better.
TEST(Compose, ManySmallReleasesComeNearTheirLimit) {
  const double limit = gaussian_epsilon(0.005 * std::sqrt(100'000.0), 1e-5);
  const auto loss = compose(same(Charge::laplace(0.005), 100'000), 1e-5);
  EXPECT_EQ(loss.method, "pld");
  EXPECT_NEAR(loss.epsilon / limit, 1, 2e-3);
  EXPECT_LT(loss.epsilon, limit);
}

TEST(Compose, AScheduleOfManyRounds) {
  std::vector<ChargeGroup> groups;
  for (int t = 1; t <= 30'000; ++t) groups.push_back({Charge::laplace(0.1 / std::sqrt(t)), 1});
  const auto loss = compose(groups, 1e-5);
  EXPECT_LE(loss.epsilon, *loss.renyi);
  // Σ ε² is that of Gaussian noise, up to the merging of charges and to what Laplace noise is better.
  double squares = 0;
  for (const ChargeGroup& group : groups) squares += group.charge.epsilon * group.charge.epsilon;
  EXPECT_NEAR(loss.epsilon / gaussian_epsilon(std::sqrt(squares), 1e-5), 1, 0.05);
}

TEST(OfGroup, MultipliesWhatMayBeMultiplied) {
  EXPECT_EQ(of_group(Charge::pure(0.5), 3), Charge::pure(1.5));
  EXPECT_EQ(of_group(Charge::laplace(0.5), 3), Charge::laplace(1.5));
  EXPECT_EQ(of_group(Charge::gaussian(0.5), 3), Charge::gaussian(1.5));
  EXPECT_EQ(of_group(Charge::unbounded(), 3), Charge::unbounded());
  EXPECT_FALSE(of_group(Charge::approximate(0.5, 1e-9), 3).has_value());
  EXPECT_GE(static_cast<long double>(of_group(Charge::pure(0.1), 3)->epsilon), 3 * static_cast<long double>(0.1));
  for (const double members : {0.5, std::nan(""), infinity}) {
    EXPECT_THROW((void)of_group(Charge::pure(1), members), UsageError);
  }
}

TEST(Calibration, GoesThereAndBack) {
  for (const std::int64_t releases : {1, 7, 100}) {
    for (const double epsilon : {0.1, 4.0}) {
      const double mu = largest_gaussian_mu(epsilon, 1e-6, releases);
      EXPECT_LE(epsilon_of(same(Charge::gaussian(mu), releases), 1e-6), epsilon);
      EXPECT_GT(epsilon_of(same(Charge::gaussian(mu * (1 + 1e-9)), releases), 1e-6), epsilon);
      const double each = largest_laplace_epsilon(epsilon, 1e-6, releases);
      EXPECT_LE(epsilon_of(same(Charge::laplace(each), releases), 1e-6), epsilon);
      EXPECT_GT(epsilon_of(same(Charge::laplace(each * (1 + 1e-5)), releases), 1e-6), epsilon);
    }
  }
}

TEST(Calibration, WithoutDeltaDividesTheSum) {
  const double each = largest_laplace_epsilon(1, 0, 3);
  EXPECT_LE(epsilon_of(same(Charge::laplace(each), 3), 0), 1);
  EXPECT_NEAR(each, 1.0 / 3, 1e-15);
  EXPECT_NEAR(largest_gaussian_mu(1.0, 4), 0.5, 1e-15);
  EXPECT_LE(compose(same(Charge::gaussian(largest_gaussian_mu(0.7, 7)), 7), 0).mu.value(), 0.7);
  EXPECT_THROW((void)largest_laplace_epsilon(1, 0, 0), UsageError);
  EXPECT_THROW((void)largest_laplace_epsilon(0, 1e-5, 1), UsageError);
  EXPECT_THROW((void)largest_gaussian_mu(-1.0, 1), UsageError);
}

// Where nothing is left to protect, figures are still bounds, and come in time.
TEST(Accounting, StaysAnUpperBoundForHugeLosses) {
  for (const double epsilon : {1e4, 1e6, 1e8, 1e10, 4.26e16, 1e30, 1e100}) {
    for (const std::int64_t count : {1, 3, 1000}) {
      const std::vector<ChargeGroup> groups{{Charge::laplace(epsilon), count}};
      const PrivacyLoss loss = compose(groups, 1e-5);
      const auto k = static_cast<double>(count);
      // Nearly every pair of neighbours is told apart: the loss is that of about half the releases or more.
      EXPECT_GE(loss.epsilon, k * epsilon / 2 * (1 - 1e-9)) << epsilon;
      EXPECT_LE(loss.epsilon, k * epsilon * (1 + 1e-9)) << epsilon;
      if (count > 1) continue;
      EXPECT_GE(loss.epsilon, epsilon + 2 * std::log1p(-1e-5) - epsilon * 1e-15) << epsilon;
    }
  }
  for (const double mu : {1e3, 1e5, 1e6, 1e9, 1e12}) {
    const std::vector<ChargeGroup> groups{{Charge::laplace(0.1), 1}, {Charge::gaussian(mu), 1}};
    // Of the Gaussian alone: Φ(−ε/μ + μ/2) = 1e-5 as far as the second term is negligible.
    EXPECT_GE(compose(groups, 1e-5).epsilon, mu * mu / 2 + 4.264 * mu) << mu;
  }
}

}  // namespace starling::accounting_test
