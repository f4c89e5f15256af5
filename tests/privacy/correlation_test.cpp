#include "privacy/correlation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.hpp"
#include "support/testing.hpp"

namespace starling::correlation_test {

using namespace testing_support;

/// The nearest multiples of 2^-20 to the weights that a table gives with four digits.
NoiseCorrelation of_table(std::array<double, 2> omega, std::array<double, 2> theta, std::int64_t uses = 1,
                          Round apart = 0) {
  const auto nearest = [](double x) { return std::ldexp(std::round(std::ldexp(x, 20)), -20); };
  return {{nearest(omega[0]), nearest(omega[1])}, {nearest(theta[0]), nearest(theta[1])}, uses, apart};
}

/// The coefficients of C⁻¹ by their definition: 1 and −Σ_j ω_j θ_j^{t−1}.
std::vector<double> inverse_of(const NoiseCorrelation& correlation, std::size_t rounds) {
  std::vector<double> inverse(rounds);
  for (std::size_t t = 0; t < rounds; ++t) {
    inverse[t] = t == 0 ? 1
                        : -correlation.omega[0] * std::pow(correlation.theta[0], t - 1) -
                              correlation.omega[1] * std::pow(correlation.theta[1], t - 1);
  }
  return inverse;
}

/// ‖Σ_{j<k} C e_{jb}‖ over so many rounds, column by column.
double norm_of_uses(const NoiseCorrelation& correlation, std::size_t uses, std::size_t apart, std::size_t rounds) {
  const std::vector<double> column = column_of(correlation, rounds);
  double square = 0;
  for (std::size_t t = 0; t < rounds; ++t) {
    double row = 0;
    for (std::size_t j = 0; j < uses && j * apart <= t; ++j) row += column[t - j * apart];
    square += row * row;
  }
  return std::sqrt(square);
}

/// v by its definition, with the column norm over endless rounds.
double prefix_noise_by_definition(const NoiseCorrelation& correlation, std::size_t rounds) {
  const std::vector<double> inverse = inverse_of(correlation, rounds);
  double prefix = 0;
  double row = 0;
  double total = 0;
  for (const double value : inverse) {
    prefix += value;
    row += prefix * prefix;
    total += row;
  }
  return noise_factor(correlation) * std::sqrt(total / static_cast<double>(rounds));
}

struct Planned {
  Round rounds;
  std::int64_t passes;
  NoiseCorrelation table;
  double v;
};

const std::vector<Planned>& planned() {
  static const std::vector<Planned> all = {
      {64, 1, of_table({.4520, .0491}, {.2143, .8309}), 2.18},
      {256, 1, of_table({.4578, .0143}, {.3524, .9364}), 2.62},
      {1024, 1, of_table({.4167, .0043}, {.4734, .9750}), 3.08},
      {4096, 1, of_table({.3580, .0013}, {.5785, .9899}), 3.58},
      {51, 5, of_table({.1222, .3931}, {.7364, .0821}, 5, 51), 2.99},
      {16, 16, of_table({.0054, .5488}, {0, .3497}, 16, 16), 3.87},
  };
  return all;
}

TEST(NoiseCorrelation, BestIsAsGoodAsThePublishedTable) {
  for (const auto& [rounds, passes, table, v] : planned()) {
    const NoiseCorrelation best = best_correlation(rounds, passes);
    const double found = prefix_noise(best, rounds * passes);
    EXPECT_LE(found, prefix_noise(table, rounds * passes) * (1 + 1e-6)) << rounds;
    EXPECT_NEAR(found, v, 0.006) << rounds;
    EXPECT_EQ(best.uses, passes);
    EXPECT_EQ(best.apart, rounds);
    EXPECT_EQ(best_correlation(rounds, passes).text(), best.text());
  }
}

TEST(NoiseCorrelation, IndependentNoiseAddsUp) {
  EXPECT_NEAR(prefix_noise(std::nullopt, 64), 5.70, 0.005);
  EXPECT_NEAR(prefix_noise(std::nullopt, 256), 11.3, 0.05);
  EXPECT_NEAR(prefix_noise(std::nullopt, 1024), 22.6, 0.05);
  EXPECT_NEAR(prefix_noise(std::nullopt, 4096), 45.3, 0.05);
}

// Whatever is planned: never worse than independent noise, but for weights that are at least 2^-20.
TEST(NoiseCorrelation, PlansRunsOfAllLengths) {
  for (const auto& [rounds, passes] : std::vector<std::pair<Round, std::int64_t>>{
           {1, 1}, {2, 1}, {3, 1}, {1, 7}, {2, 8000}, {1, 16384}, {8, 100}, {1000, 1000}, {Round{1} << 30, 1}}) {
    const NoiseCorrelation best = best_correlation(rounds, passes);
    EXPECT_LE(prefix_noise(best, rounds * passes), prefix_noise(std::nullopt, rounds * passes) * (1 + 1e-4))
        << rounds << " " << passes;
    EXPECT_EQ(NoiseCorrelation::parse(best.text()).text(), best.text());
  }
}

TEST(NoiseCorrelation, FiguresAreThoseOfTheMatrices) {
  for (const auto& [rounds, passes, table, v] : planned()) {
    const auto count = static_cast<std::size_t>(rounds * passes);
    EXPECT_NEAR(prefix_noise(table, rounds * passes) / prefix_noise_by_definition(table, count), 1, 1e-9);
    const double uses = norm_of_uses(table, static_cast<std::size_t>(passes), static_cast<std::size_t>(rounds), 20000);
    const double factor = noise_factor(table) * std::sqrt(static_cast<double>(passes));
    EXPECT_GE(factor, uses);
    EXPECT_LE(factor, uses * (1 + 1e-9));
    const double all = norm_of_uses(table, count, 1, count);
    EXPECT_GE(norm_of_all_rounds(table, rounds * passes), all);
    EXPECT_LE(norm_of_all_rounds(table, rounds * passes), all * (1 + 1e-9));
  }
}

TEST(NoiseCorrelation, CTimesItsInverseIsOne) {
  for (const auto& [rounds, passes, table, v] : planned()) {
    const std::vector<double> column = column_of(table, 300);
    const std::vector<double> inverse = inverse_of(table, 300);
    for (std::size_t t = 0; t < 300; ++t) {
      double entry = 0;
      for (std::size_t i = 0; i <= t; ++i) entry += column[i] * inverse[t - i];
      EXPECT_NEAR(entry, t == 0 ? 1 : 0, 1e-12) << t;
    }
  }
}

// Step 1 of the proof, at the corners of the ranges too.
TEST(NoiseCorrelation, CoefficientsFallAndAreNotNegative) {
  std::vector<NoiseCorrelation> all;
  for (const Planned& plan : planned()) all.push_back(plan.table);
  all.push_back({{0x1p-20, 0x1p-20}, {1 - 0x1p-16, 0}});
  all.push_back({{0.25, 0.25}, {0.25, 0.25}});
  all.push_back({{0.5, 0.5 - 0x1p-20}, {0, 0}});
  for (const NoiseCorrelation& correlation : all) {
    const std::vector<double> column = column_of(correlation, 2000);
    EXPECT_EQ(column[0], 1);
    EXPECT_TRUE(std::ranges::is_sorted(column, std::greater<>())) << correlation.text();
    EXPECT_GE(column.back(), 0);
  }
}

// Steps 2 and 3 of the proof: uses that are further apart, or fewer, cost no more than their number says.
TEST(NoiseCorrelation, NoUseCostsMoreThanPlanned) {
  const NoiseCorrelation planned_for = best_correlation(51, 5);
  const double factor = noise_factor(planned_for);
  for (std::size_t uses = 1; uses <= 5; ++uses) {
    for (const std::size_t apart : {51, 52, 70, 200}) {
      EXPECT_LE(norm_of_uses(planned_for, uses, apart, 3000), factor * std::sqrt(static_cast<double>(uses)));
    }
  }
  EXPECT_GT(norm_of_uses(planned_for, 5, 30, 3000), factor * std::sqrt(5.0));
}

TEST(NoiseCorrelation, RecordInEveryBatchPaysMore) {
  const auto times = [](Round rounds) {
    const NoiseCorrelation best = best_correlation(rounds, 1);
    return norm_of_all_rounds(best, rounds) / noise_factor(best);
  };
  EXPECT_NEAR(times(64), 31, 0.5);
  EXPECT_NEAR(times(256), 113, 1);
  EXPECT_NEAR(times(1024), 413, 2);
}

// Rows beyond the last that is summed count as Σ c.
TEST(NoiseCorrelation, LongRunsAreBoundedByTheSumOfTheColumn) {
  const NoiseCorrelation correlation{{0.25, 0.25}, {0.25, 0.25}};  // Σ c = 3
  EXPECT_NEAR(norm_of_all_rounds(correlation, Round{1} << 40), 3 * 0x1p20, 1e-3);
  EXPECT_GE(norm_of_all_rounds(correlation, 1), 1);
}

// Σ ω/(1 − θ) as near to 1 as multiples of 2^-20 allow: figures stay finite, and upper bounds.
TEST(NoiseCorrelation, FiguresHoldAtTheEndOfTheRange) {
  const NoiseCorrelation correlation{{0.5, 0.5 - 0x1p-20}, {0, 0}};  // c_t = r^t, t >= 1, r = 1 − 2^-20
  const double ratio = 1 - 0x1p-20;
  const double exact = std::sqrt(1 + ratio * ratio / (1 - ratio * ratio));
  EXPECT_GE(noise_factor(correlation), exact * (1 - 1e-15));
  EXPECT_LE(noise_factor(correlation), exact * (1 + 1e-9));
}

TEST(NoiseCorrelation, TextIsReadBackToTheSameBits) {
  const NoiseCorrelation best = best_correlation(100, 3);
  const NoiseCorrelation again = NoiseCorrelation::parse(best.text());
  EXPECT_EQ(again.omega, best.omega);
  EXPECT_EQ(again.theta, best.theta);
  EXPECT_EQ(again.uses, 3);
  EXPECT_EQ(again.apart, 100);
  EXPECT_EQ((NoiseCorrelation{{0.25, 0.5}, {0, 0.125}, 2, 9}.text()), "omega=0.25,0.5 theta=0,0.125 uses=2 apart=9");
}

TEST(NoiseCorrelation, RefusesWhatIsNoCorrelation) {
  for (const char* text : {"", "omega=0.25,0.5", "omega=0.25,0.5 theta=0,0 uses=1 apart=0 ", "theta=0,0 omega=0.25,0.5",
                           "omega=a,0.5 theta=0,0 uses=1 apart=0"}) {
    EXPECT_ERROR(UsageError, "expected omega=", NoiseCorrelation::parse(text)) << text;
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const NoiseCorrelation& wrong :
       {NoiseCorrelation{{0.25, 0}, {0, 0}}, NoiseCorrelation{{0.25, 1}, {0, 0}}, NoiseCorrelation{{0.25, 0.1}, {0, 0}},
        NoiseCorrelation{{0.25, 0.25}, {0, 1}}, NoiseCorrelation{{0.25, 0.25}, {-0.25, 0}},
        NoiseCorrelation{{nan, 0.25}, {0, 0}}, NoiseCorrelation{{0.5, 0.5}, {0, 0}},
        NoiseCorrelation{{0.25, 0.25}, {0.5, 0.5}}, NoiseCorrelation{{0.25, 0.25}, {0, 0}, 0, 1},
        NoiseCorrelation{{0.25, 0.25}, {0, 0}, 2, 0}}) {
    EXPECT_THROW(static_cast<void>(noise_factor(wrong)), UsageError) << wrong.text();
  }
  EXPECT_THROW(static_cast<void>(best_correlation(0, 1)), UsageError);
  EXPECT_THROW(static_cast<void>(best_correlation(1, 0)), UsageError);
  EXPECT_THROW(static_cast<void>(prefix_noise(std::nullopt, 0)), UsageError);
  EXPECT_THROW(static_cast<void>(norm_of_all_rounds(best_correlation(8, 1), 0)), UsageError);
}

/// Against Σ η_t o_t written out: o = C⁻¹ Z, in which rounds without a release have no Z.
TEST(Correlation, NoiseOfASumIsThatOfItsReleases) {
  const NoiseCorrelation correlation = of_table({0.3, 0.2}, {0.6, 0.1});
  struct Case {
    std::vector<Round> rounds;
    std::vector<double> factors;
  };
  for (const auto& [rounds, factors] : {Case{{0, 1, 2, 3}, {1, 1, 1, 1}},
                                        {{0, 1, 2, 3, 4}, {2, 0.5, 1, 0, 3}},
                                        {{1, 2, 5, 9}, {1, -1, 2, 0.5}},
                                        {{7}, {3}},
                                        {{}, {}}}) {
    const std::vector<double> inverse = inverse_of(correlation, 10);
    double square = 0;
    double independent = 0;
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      double of_release = 0;
      for (std::size_t k = i; k < rounds.size(); ++k) {
        of_release += factors[k] * inverse[static_cast<std::size_t>(rounds[k] - rounds[i])];
      }
      square += of_release * of_release;
      independent += factors[i] * factors[i];
    }
    EXPECT_NEAR(noise_of_sum(correlation, rounds, factors), std::sqrt(square), 1e-12);
    EXPECT_NEAR(noise_of_sum(std::nullopt, rounds, factors), std::sqrt(independent), 1e-12);
  }
}

}  // namespace starling::correlation_test
