// The sensitivity that shared sums are priced by, against the worst records; and the faults that would break it.
#include <cmath>
#include <random>

#include "privacy/shares/share_holder.hpp"
#include "support/testing.hpp"

namespace starling::sensitivity_test {

SharesTerms terms_of(bool residual) {
  SharesTerms terms;
  terms.shape = {1, {3, 2}, 7};
  terms.contributors = 1;
  terms.row_bounds = {1.5, 2};
  terms.balls = {1, 1.25};
  terms.residual = residual;
  terms.label_bound = residual ? 3 : 1;
  const double scale = terms.argument_scale();
  terms.slope = std::make_shared<SlopePolynomial>(
      [=](double u) { return residual ? std::clamp(u * scale, -1.0, 1.0) : 1 / (1 + std::exp(-u * scale)); }, 7, 20);
  return terms;
}

/// L2 norm of the integers s x of one record, for the worst truncation of its slope. `bounds` clip its rows.
double part_of(const SharesTerms& terms, const std::vector<double>& bounds, const std::vector<Vector>& record,
               double label, const std::vector<Vector>& model) {
  std::int64_t argument = 0;
  double squares = 0;
  for (std::size_t k = 0; k < record.size(); ++k) {
    const SharedRows row = shared_rows(record[k], record[k].size(), k == 0, bounds[k], terms.fraction_bits);
    double score = terms.residual && k == 0 ? -std::clamp(label, -terms.label_bound, terms.label_bound) : 0;
    for (std::size_t j = 0; j < row.numbers.size(); ++j) {
      score += row.numbers[j] * model[k][j];
      squares += std::ldexp(row.numbers[j], terms.fraction_bits) * std::ldexp(row.numbers[j], terms.fraction_bits);
    }
    const auto limit = static_cast<double>(terms.most_argument(k));
    argument +=
        static_cast<std::int64_t>(std::clamp(std::nearbyint(score / terms.argument_scale() * 32768), -limit, limit));
  }
  const double slope =
      static_cast<double>(terms.slope->at(argument)) - (terms.residual ? 0 : std::ldexp(label, terms.fraction_bits));
  return std::max(std::abs(slope), std::abs(slope + 1)) * std::sqrt(squares);
}

struct Worst {
  double part = 0;       ///< largest of a record
  double unbounded = 0;  ///< the same with the clip of the second party forgotten
};

/// Over random models on their balls, and records that point along them or anywhere, of any length.
Worst worst_of(const SharesTerms& terms) {
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  Worst worst;
  for (int trial = 0; trial < 4000; ++trial) {
    std::vector<Vector> model(2);
    std::vector<Vector> record(2);
    for (std::size_t k = 0; k < 2; ++k) {
      double squares = 0;
      for (std::size_t j = 0; j < terms.shape.columns[k]; ++j) {
        model[k].push_back(normal(random));
        squares += model[k][j] * model[k][j];
      }
      const double length = std::pow(10.0, static_cast<double>(random() % 6)) * (random() % 2 == 0 ? 1 : -1);
      for (double& w : model[k]) w *= terms.balls[k] / std::sqrt(squares);
      for (const double w : model[k]) record[k].push_back(trial % 3 == 0 ? normal(random) : length * w);
    }
    for (const double label : {-5.0, 0.0, 1.0, 5.0}) {
      if (!terms.residual && label != 0 && label != 1) continue;
      worst.part = std::max(worst.part, part_of(terms, terms.row_bounds, record, label, model));
      worst.unbounded = std::max(worst.unbounded, part_of(terms, {terms.row_bounds[0], 1e3}, record, label, model));
    }
  }
  return worst;
}

/// The rows of a person together are as long as one record, whatever the number of its records: exactly, in integers.
TEST(SharedRowsOfPersons, AreTogetherAsLongAsOneRecord) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  for (std::size_t records = 1; records <= 7; ++records) {
    Vector rows((records + 1) * 3);
    for (double& x : rows) x = 500 * normal(random);
    std::vector<std::size_t> of_rows(records, records);
    of_rows.push_back(0);
    const SharedRows shared = shared_rows(rows, 3, false, 1.7, 20, of_rows);
    double together = 0;
    for (std::size_t i = 0; i < records; ++i) {
      double squares = 0;
      for (std::size_t j = 0; j < 3; ++j) {
        const auto word = static_cast<double>(static_cast<std::int64_t>(shared.words[3 * i + j]));
        squares += word * word;
      }
      together += std::sqrt(squares);
    }
    const auto bound = static_cast<double>(integer_bound(1.7, 20));
    EXPECT_LE(together, bound * (1 + 1e-12)) << records;
    EXPECT_GE(together, 0.99 * bound) << records;
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_EQ(shared.words[3 * records + j], 0U);
      EXPECT_EQ(shared.numbers[3 * records + j], 0);
    }
  }
}

class SharedSensitivity : public testing::TestWithParam<bool> {};

/// No record moves the sums by more than S R, some come near, and without the clip of one party some move them further.
TEST_P(SharedSensitivity, IsThatOfTheWorstRecord) {
  const SharesTerms terms = terms_of(GetParam());
  const SharedSumTerms sums = terms.sum_terms(true);
  const double claimed = static_cast<double>(sums.most_slope) * sums.row_bound;
  const Worst worst = worst_of(terms);
  EXPECT_LE(worst.part, claimed);
  EXPECT_GE(worst.part, 0.95 * claimed);
  EXPECT_GT(worst.unbounded, claimed);
}

/// Slopes of several classes, each at any argument: no vector is longer than is claimed, and the worst one nearly is.
TEST(SharedSensitivityOfClasses, IsThatOfTheWorstScores) {
  for (const std::size_t classes : {2, 3, 7}) {
    SharesTerms terms = terms_of(false);
    terms.shape.outputs = classes;
    const double one = std::ldexp(1.0, terms.fraction_bits);
    double others = 0;  // largest of a class that is not the record's
    double own = 0;     // largest of the record's class
    for (std::int64_t u = -SlopePolynomial::one; u <= SlopePolynomial::one; ++u) {
      for (const double rounded : {0.0, 1.0}) {
        const double slope = static_cast<double>(terms.slope->at(u)) + rounded;
        others = std::max(others, std::abs(slope));
        own = std::max(own, std::abs(slope - one));
      }
    }
    const double worst = std::sqrt(static_cast<double>(classes - 1) * others * others + own * own);
    const auto claimed = static_cast<double>(terms.most_slope());
    EXPECT_LE(worst, claimed);
    EXPECT_GE(worst, claimed - 2);
    EXPECT_GT(claimed, std::max(others, own) * std::sqrt(static_cast<double>(classes) - 0.1));
  }
}

/// The largest value of the polynomial is beyond that of the loss: a sensitivity by the loss alone would be too small.
TEST(SharedArguments, CountTheErrorOfThePolynomial) {
  const SharesTerms terms = terms_of(true);
  const double of_loss = std::ldexp(1.0, terms.fraction_bits);
  EXPECT_GT(static_cast<double>(terms.most_slope()), of_loss);
  EXPECT_GT(worst_of(terms).part, of_loss * terms.sum_terms(true).row_bound);
}
INSTANTIATE_TEST_SUITE_P(Losses, SharedSensitivity, testing::Bool());

/// A model beyond its ball, or a row beyond its bound, moves no argument beyond those at which the slope was bounded.
TEST(SharedArguments, StayWhereTheSlopeIsBounded) {
  const SharesTerms terms = terms_of(true);
  EXPECT_LE(terms.most_argument(0) + terms.most_argument(1), SlopePolynomial::one);
  EXPECT_GE(terms.most_argument(0) + terms.most_argument(1), SlopePolynomial::one - 2);
}

}  // namespace starling::sensitivity_test
