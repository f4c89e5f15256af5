/// Generators whose regression is known.
#include <cmath>
#include <numbers>
#include <string>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "data/formats/writer.hpp"
#include "data/generators/generators.hpp"
#include "data/generators/synthetic.hpp"
#include "data/serving/dataset.hpp"
#include "data/source.hpp"
#include "support/testing.hpp"

namespace starling::regression_generators_test {

using namespace testing_support;

std::unique_ptr<Generator> generator(const std::string& text) {
  return make_generator("synthetic:" + text, {});
}

/// Records of client 0 from round 1 on.
struct Draws {
  std::vector<Vector> rows;  ///< (x, 1)
  Vector labels;
};

Draws draw(const Generator& from, Round count) {
  Draws draws;
  for (Round t = 1; t <= count; ++t) {
    AddressedRandom random(7, Purpose::data, 0, static_cast<std::uint64_t>(t));
    Vector row(from.features());
    draws.labels.push_back(from.draw(t, 0, random, row));
    row.push_back(1);
    draws.rows.push_back(std::move(row));
  }
  return draws;
}

/// Of a normal deviate: exceeded with probability 4e-8. Fewer than 200 comparisons are made with it in this file, so
/// sound generators fail with probability below 8e-6 over seeds (and the seed is fixed).
constexpr double deviations = 5.5;
constexpr Round count = 100'000;

/// Solves a small symmetric positive definite system by elimination, for several right hand sides (columns).
std::vector<Vector> solve(std::vector<Vector> matrix, std::vector<Vector> sides) {
  const std::size_t n = matrix.size();
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = matrix[i][k] / matrix[k][k];
      axpy(-factor, matrix[k], matrix[i]);
      axpy(-factor, sides[k], sides[i]);
    }
  }
  for (std::size_t k = 0; k < n; ++k) scale(1 / matrix[k][k], sides[k]);
  return sides;
}

/// Least squares with standard errors, and the mean square of its residuals.
struct Fit {
  Vector coefficients;
  Vector errors;
  double residual = 0;
};

Fit least_squares(const Draws& draws) {
  const std::size_t d = draws.rows[0].size();
  std::vector<Vector> gram(d, Vector(d));
  std::vector<Vector> sides(d, Vector(d + 1));  // the moments with the label, then the unit matrix
  for (std::size_t i = 0; i < d; ++i) sides[i][i + 1] = 1;
  for (std::size_t r = 0; r < draws.rows.size(); ++r) {
    for (std::size_t i = 0; i < d; ++i) {
      axpy(draws.rows[r][i], draws.rows[r], gram[i]);
      sides[i][0] += draws.rows[r][i] * draws.labels[r];
    }
  }
  const std::vector<Vector> solved = solve(gram, sides);
  Fit fit;
  for (std::size_t i = 0; i < d; ++i) fit.coefficients.push_back(solved[i][0]);
  for (std::size_t r = 0; r < draws.rows.size(); ++r) {
    const double rest = draws.labels[r] - dot(draws.rows[r], fit.coefficients);
    fit.residual += rest * rest / static_cast<double>(draws.rows.size());
  }
  for (std::size_t i = 0; i < d; ++i) fit.errors.push_back(std::sqrt(fit.residual * solved[i][i + 1]));
  return fit;
}

void expect_fits(const Fit& fit, const Vector& coefficients) {
  ASSERT_EQ(fit.coefficients.size(), coefficients.size());
  for (std::size_t j = 0; j < coefficients.size(); ++j) {
    EXPECT_NEAR(fit.coefficients[j], coefficients[j], deviations * fit.errors[j]) << j;
  }
}

/// That Σ (a record's part) has mean zero, componentwise, `part` being a multiple of (x, 1).
template <class F>
void expect_centred(const Draws& draws, F part) {
  const std::size_t d = draws.rows[0].size();
  Vector total(d);
  Vector squares(d);
  for (std::size_t r = 0; r < draws.rows.size(); ++r) {
    const double factor = part(sum(draws.rows[r]), draws.labels[r]);
    for (std::size_t j = 0; j < d; ++j) {
      total[j] += factor * draws.rows[r][j];
      squares[j] += factor * factor * draws.rows[r][j] * draws.rows[r][j];
    }
  }
  for (std::size_t j = 0; j < d; ++j) EXPECT_NEAR(total[j], 0, deviations * std::sqrt(squares[j])) << j;
}

/// Moments of features: mean 0, variance 1, correlation^|j−k|.
void expect_design(const Draws& draws, double correlation) {
  const std::size_t p = draws.rows[0].size() - 1;
  const auto n = static_cast<double>(draws.rows.size());
  for (std::size_t j = 0; j < p; ++j) {
    double mean = 0;
    for (const Vector& row : draws.rows) mean += row[j] / n;
    EXPECT_NEAR(mean, 0, deviations / std::sqrt(n));
    for (std::size_t k = j; k < p; ++k) {
      double product = 0;
      for (const Vector& row : draws.rows) product += row[j] * row[k] / n;
      const double expected = std::pow(correlation, static_cast<double>(k - j));
      EXPECT_NEAR(product, expected, deviations * std::sqrt((1 + expected * expected) / n)) << j << ", " << k;
    }
  }
}

TEST(LinearGenerator, HasItsDesignAndCoefficients) {
  for (const auto& [text, correlation, sd] : {std::tuple{"linear", 0.0, 0.5},
                                              {"linear:p=4,correlation=0.5", 0.5, 0.5},
                                              {"linear:p=5,sd=2,correlation=-0.8", -0.8, 2.0}}) {
    SCOPED_TRACE(text);
    const auto from = generator(text);
    const Draws draws = draw(*from, count);
    expect_design(draws, correlation);
    const Fit fit = least_squares(draws);
    EXPECT_EQ(from->coefficients(), Vector(from->features() + 1, 1.0));
    expect_fits(fit, from->coefficients());
    EXPECT_NEAR(fit.residual / (sd * sd), 1, deviations * std::sqrt(2.0 / static_cast<double>(count)));
  }
}

TEST(LinearGenerator, WithoutNoiseIsExact) {
  const Draws draws = draw(*generator("linear:p=2,sd=0"), 100);
  for (std::size_t r = 0; r < 100; ++r) EXPECT_DOUBLE_EQ(draws.labels[r], sum(draws.rows[r]));
}

// The likelihood is concave, so its slope is 0 in the mean at the true coefficients alone.
TEST(LogisticGenerator, HasItsDesignAndCoefficients) {
  for (const auto& [text, correlation] : {std::pair{"logistic", 0.0}, {"logistic:p=4,correlation=0.5", 0.5}}) {
    SCOPED_TRACE(text);
    const auto from = generator(text);
    const Draws draws = draw(*from, count);
    expect_design(draws, correlation);
    EXPECT_EQ(from->coefficients(), Vector(from->features() + 1, 1.0));
    for (const double y : draws.labels) EXPECT_TRUE(y == 0 || y == 1) << y;
    expect_centred(draws, [](double s, double y) { return y - 1 / (1 + std::exp(-s)); });
  }
}

// The likelihood is concave, so its slope is 0 in the mean at the true coefficients alone. Variance and mean are equal.
TEST(CountGenerator, HasItsDesignAndCoefficients) {
  const auto from = generator("counts:p=2");
  const Draws draws = draw(*from, count);
  expect_design(draws, 0);
  EXPECT_EQ(from->coefficients(), (Vector{0.3, 0.3, 0}));
  for (const double y : draws.labels) EXPECT_TRUE(y >= 0 && y == std::floor(y)) << y;
  const auto mean = [](double s) { return std::exp(0.3 * (s - 1)); };
  expect_centred(draws, [&](double s, double y) { return y - mean(s); });
  expect_centred(draws, [&](double s, double y) { return (y - mean(s)) * (y - mean(s)) - mean(s); });
}

double expectile_slope(double r, double tau, double c) {
  return (r < 0 ? 1 - tau : tau) * std::clamp(r, -c, c);
}

// The loss is convex, so its slope is 0 in the mean at the true coefficients alone.
TEST(ExpectileGenerator, HasItsDesignAndCoefficients) {
  for (const auto& [text, correlation, tau, c] :
       {std::tuple{"expectile", 0.0, 0.7, 1.345}, {"expectile:p=2,sd=2,correlation=0.5,tau=0.1,c=1", 0.5, 0.1, 1.0}}) {
    SCOPED_TRACE(text);
    const auto from = generator(text);
    const Draws draws = draw(*from, count);
    expect_design(draws, correlation);
    EXPECT_EQ(from->coefficients(), Vector(from->features() + 1, 1.0));
    expect_centred(draws, [tau = tau, c = c](double s, double y) { return expectile_slope(y - s, tau, c); });
  }
}

// E ψ(sd Z − m) by Simpson's rule on each piece where ψ is linear.
double mean_expectile_slope(double sd, double tau, double c, double m) {
  const auto integrand = [&](double z) {
    return expectile_slope(sd * z - m, tau, c) * std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  };
  const Vector ends{-40, (m - c) / sd, m / sd, (m + c) / sd, 40};
  double total = 0;
  for (std::size_t k = 0; k + 1 < ends.size(); ++k) {
    const double from = std::clamp(ends[k], -40.0, 40.0);
    const double to = std::clamp(ends[k + 1], -40.0, 40.0);
    constexpr int pieces = 4000;
    const double h = (to - from) / pieces;
    for (int i = 0; i < pieces; ++i) {
      const double a = from + i * h;
      total += h / 6 * (integrand(a) + 4 * integrand(a + h / 2) + integrand(a + h));
    }
  }
  return total;
}

TEST(GaussianExpectile, SolvesItsEquation) {
  for (const double sd : {0.5, 1.0, 3.0}) {
    for (const double tau : {0.05, 0.5, 0.7, 0.95}) {
      for (const double c : {0.1, 1.345, 100.0}) {
        const double m = gaussian_expectile(sd, tau, c);
        EXPECT_NEAR(mean_expectile_slope(sd, tau, c, m), 0, 1e-11) << sd << ", " << tau << ", " << c;
        EXPECT_NEAR(gaussian_expectile(sd, 1 - tau, c), -m, 1e-12 * sd);
        EXPECT_EQ(m > 0.001, tau > 0.5);
      }
    }
  }
  EXPECT_EQ(gaussian_expectile(0, 0.7, 1), 0);
  EXPECT_NEAR(gaussian_expectile(2, 0.9, 1000), 2 * gaussian_expectile(1, 0.9, 500), 1e-11);
}

TEST(GaussianExpectile, TurnsIntoAQuantileWhereTheLossIsSteep) {
  // Φ⁻¹(0.9); the loss with c = sd/1000 is 0.001 times the pinball loss but for its bend.
  EXPECT_NEAR(gaussian_expectile(1, 0.9, 0.001), 1.2815515655446004, 1e-3);
}

TEST(NormalPairs, UseBothOfAPair) {
  AddressedRandom random(3, Purpose::data, 1, 2);
  AddressedRandom again(3, Purpose::data, 1, 2);
  NormalPairs pairs(random);
  Vector second;
  for (int i = 0; i < 50'000; ++i) {
    EXPECT_EQ(pairs(), again.normal());
    second.push_back(pairs());
  }
  double fourth = 0;
  for (const double z : second) fourth += z * z * z * z;
  const double n = 50'000;
  EXPECT_NEAR(sum(second) / n, 0, deviations / std::sqrt(n));
  EXPECT_NEAR(dot(second, second) / n, 1, deviations * std::sqrt(2 / n));
  EXPECT_NEAR(fourth / n, 3, deviations * std::sqrt(96 / n));
}

TEST(InsuranceGenerator, DrawsTheCodesOfItsTable) {
  const auto from = generator("insurance:standardised=0");
  EXPECT_THAT(from->names(),
              ElementsAre("age", "gender", "bmi", "children", "smoker", "medical_history", "family_medical_history",
                          "exercise_frequency", "occupation", "coverage_level"));
  const Vector low{18, 0, 18, 0, 0, 0, 0, 0, 0, 0};
  const Vector high{65, 1, 50, 5, 1, 3, 3, 3, 3, 2};
  const Draws draws = draw(*from, count);
  for (std::size_t j = 0; j < 10; ++j) {
    Vector seen;
    for (const Vector& row : draws.rows) {
      EXPECT_TRUE(row[j] >= low[j] && row[j] <= high[j]) << j << ": " << row[j];
      EXPECT_TRUE(j == 2 || row[j] == std::floor(row[j])) << j << ": " << row[j];
      seen.push_back(row[j]);
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_NEAR(seen.front(), low[j], 0.01) << j;
    EXPECT_NEAR(seen.back(), high[j], 0.01) << j;
    const double width = high[j] - low[j];
    const double variance = j == 2 ? width * width / 12 : width * (width + 2) / 12;
    EXPECT_NEAR(sum(seen) / static_cast<double>(count), (low[j] + high[j]) / 2,
                deviations * std::sqrt(variance / static_cast<double>(count)));
  }
  expect_fits(least_squares(draws), from->coefficients());
}

// The published coefficients have a sampling error of √(0.0607/800,000) = 0.00028, and their mean squared error, on
// 200,000 records, one of 0.0002 at most.
TEST(InsuranceGenerator, HasThePublishedLeastSquares) {
  const Vector published{0.0627, 0.1131, 0.1044, 0.0774, 0.5659, 0.4052, 0.4051, 0.1389, 0.1516, 0.4625};
  const auto from = generator("insurance");
  const Vector coefficients = from->coefficients();
  ASSERT_EQ(coefficients.size(), 11U);
  for (std::size_t j = 0; j < 10; ++j) EXPECT_NEAR(coefficients[j], published[j], 2.5 * 0.00028) << j;
  EXPECT_EQ(coefficients[10], 0);
  const Draws draws = draw(*from, 2 * count);
  const Fit fit = least_squares(draws);
  expect_fits(fit, coefficients);
  EXPECT_NEAR(fit.residual, 0.0607, 0.0008);
}

TEST(InsuranceGenerator, StandardisesByThePopulation) {
  const auto codes = draw(*generator("insurance:standardised=0"), 1000);
  const Draws draws = draw(*generator("insurance"), count);
  const auto n = static_cast<double>(count);
  const auto expect_standard = [n](double total, double squares) {
    EXPECT_NEAR(total / n, 0, deviations / std::sqrt(n));
    EXPECT_NEAR(squares / n, 1, deviations * std::sqrt(2 / n));  // no column has longer tails than the normal
  };
  for (std::size_t j = 0; j < 10; ++j) {
    Vector column;
    for (const Vector& row : draws.rows) column.push_back(row[j]);
    expect_standard(sum(column), dot(column, column));
    // The same draws: an affine function of the codes, through three records.
    const double slope = (column[2] - column[0]) * (codes.rows[1][j] - codes.rows[0][j]);
    EXPECT_NEAR(slope, (column[1] - column[0]) * (codes.rows[2][j] - codes.rows[0][j]), 1e-12 * (1 + std::abs(slope)));
  }
  expect_standard(sum(draws.labels), dot(draws.labels, draws.labels));
  for (const double charges : codes.labels) EXPECT_TRUE(charges > 2000 && charges < 36000) << charges;
}

TEST(RidesGenerator, HasEffectsOfDistanceAndTimeAlone) {
  const auto from = generator("rides:standardised=0");
  EXPECT_THAT(from->names(), ElementsAre("distance", "rating", "total_rides", "year", "capacity", "time_cost"));
  EXPECT_THAT(from->coefficients(), ElementsAre(1.5, 0, 0, 0, 0, 0.3, 3));
  expect_fits(least_squares(draw(*generator("rides"), count)), generator("rides")->coefficients());
}

// By address: whoever asks, in whatever order, and each client and round its own.
TEST(RegressionGenerators, AreDeterministic) {
  for (const char* text : {"linear", "logistic:p=7", "expectile", "insurance", "rides"}) {
    const auto one = generator(text);
    const auto other = generator(text);
    const auto record = [](const Generator& from, Client u, Round t) {
      AddressedRandom random(7, Purpose::data, static_cast<std::uint64_t>(u), static_cast<std::uint64_t>(t));
      Vector row(from.features() + 1);
      row.back() = from.draw(t, u, random, MutableView(row).first(from.features()));
      return row;
    };
    const Vector first = record(*one, 3, 5);
    EXPECT_NE(record(*one, 3, 6), first);
    EXPECT_NE(record(*one, 4, 5), first);
    EXPECT_EQ(record(*one, 3, 5), first);
    EXPECT_EQ(record(*other, 3, 5), first);
  }
}

TEST(RegressionGenerators, NamesReachThoseWhoRead) {
  DataSettings settings;
  settings.source = "synthetic:insurance";
  EXPECT_EQ(open_dataset(settings, 2, 0, 1).shape.names, generator("insurance")->names());
  settings.source = "synthetic:linear";
  EXPECT_TRUE(open_dataset(settings, 2, 0, 1).shape.names.empty());

  const TemporaryFolder folder;
  const std::string file = folder / "insurance.csv";
  const auto reader = open_generated(generator("insurance"), "synthetic:insurance", 1, 0, 1, 5);
  WriteSettings writing;
  writing.features = reader->features();
  writing.names = reader->names();
  const auto writer = open_writer(file, writing);
  copy_records(*reader, *writer, [] {});
  writer->finish();
  writer->publish();
  EXPECT_EQ(open_reader(file, {})->names(), generator("insurance")->names());
}

TEST(RegressionGenerators, TakeTheirParameters) {
  EXPECT_EQ(generator("linear")->features(), 3U);
  EXPECT_EQ(generator("linear")->records(), 0);
  EXPECT_EQ(generator("linear:5,n=9")->features(), 5U);
  EXPECT_EQ(generator("linear:5,n=9")->records(), 9);
  EXPECT_EQ(generator("logistic:2,0.5,7")->records(), 7);
  EXPECT_EQ(generator("expectile:2,1,0.5,0.9,2,7")->records(), 7);
  EXPECT_EQ(generator("insurance:n=4")->records(), 4);
  EXPECT_EQ(generator("insurance")->features(), 10U);
}

TEST(RegressionGenerators, RefuseWhatTheyCannotDraw) {
  const auto error = [](const std::string& text) { return message_of<UsageError>([&] { return generator(text); }); };
  EXPECT_THAT(error("linear:p=0"), HasSubstr("p=0: it must lie between 1 and"));
  EXPECT_THAT(error("linear:sd=-1"), HasSubstr("sd=-1: it must lie between 0 and"));
  EXPECT_THAT(error("linear:sd=nan"), HasSubstr("sd=nan: it must lie between 0 and"));
  EXPECT_THAT(error("linear:correlation=1"), HasSubstr("correlation=1: it must lie between -0.999 and 0.999."));
  EXPECT_THAT(error("logistic:sd=1"), HasSubstr("sd"));
  EXPECT_THAT(error("logistic:n=-1"), HasSubstr("n=-1: it must lie between 0 and"));
  EXPECT_THAT(error("expectile:tau=1"), HasSubstr("tau=1: it must lie between 0.001 and 0.999."));
  EXPECT_THAT(error("expectile:c=0"), HasSubstr("c=0: it must lie between"));
  EXPECT_THAT(error("expectile:c=0.0001"), HasSubstr("Give c at least sd/1000"));
  EXPECT_THAT(error("insurance:standardised=2"), HasSubstr("standardised=2: it must lie between 0 and 1."));
}

// Equal draws of clients differ by their intercepts alone, whose mean is 1 for any number of clients.
TEST(LinearGenerator, GivesClientsInterceptsOfTheirOwn) {
  for (const Client clients : {1, 5, 8}) {
    Audience audience;
    audience.clients = clients;
    const auto same = make_generator("synthetic:linear", audience);
    const auto differ = make_generator("synthetic:linear:apart=2", audience);
    double total = 0;
    for (Client u = 0; u < clients; ++u) {
      Vector x(3);
      AddressedRandom random(7, Purpose::data, 0, 1);
      AddressedRandom again(7, Purpose::data, 0, 1);
      const double shift = differ->draw(1, u, random, x) - same->draw(1, u, again, x);
      EXPECT_NEAR(shift, clients == 1 ? 0 : 4.0 * u / (clients - 1) - 2, 1e-12);
      total += shift;
    }
    EXPECT_NEAR(total, 0, 1e-12);
    EXPECT_EQ(differ->coefficients(), Vector(4, 1.0));
  }
}

}  // namespace starling::regression_generators_test
