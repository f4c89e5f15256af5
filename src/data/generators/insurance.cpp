/// The generators `insurance` and `rides`: independent features with effects of their own. Encoding and ranges of
/// `insurance` are those of Table 2 of the paper cited in docs/methods/inference.md; its effects reproduce the
/// coefficients and the error of least squares of that paper's Table 3. `rides` has the columns of its section 6.1.
#include <cmath>
#include <numeric>
#include <utility>

#include "data/constants.hpp"
#include "generators.hpp"

namespace starling {

namespace {

struct Population {
  double mean = 0;
  double variance = 0;
};

Population equally_likely(const Vector& values) {
  const auto n = static_cast<double>(values.size());
  Population result;
  for (const double value : values) result.mean += value / n;
  for (const double value : values) result.variance += (value - result.mean) * (value - result.mean) / n;
  return result;
}

/// A feature and what it adds to the charges, in dollars.
struct Column {
  const char* name;
  Vector codes;    ///< equally likely; none where the feature is uniform on an interval
  Vector effects;  ///< of the codes
  Population feature;
  Population effect;
  double slope;  ///< of the effects' regression on the feature

  struct Draw {
    double feature;
    double effect;
  };
  [[nodiscard]] Draw draw(AddressedRandom& random) const {
    if (codes.empty()) {
      const double value = feature.mean + std::sqrt(12 * feature.variance) * (random.uniform() - 0.5);
      return {value, slope * value};
    }
    const std::size_t k = random.below(codes.size());
    return {codes[k], effects[k]};
  }
};

Column with_codes(const char* name, Vector codes, Vector effects) {
  const Population feature = equally_likely(codes);
  double covariance = 0;
  for (std::size_t k = 0; k < codes.size(); ++k) covariance += (codes[k] - feature.mean) * effects[k];
  const double slope = covariance / static_cast<double>(codes.size()) / feature.variance;
  const Population effect = equally_likely(effects);
  return {name, std::move(codes), std::move(effects), feature, effect, slope};
}

/// Codes 0, 1, ….
Column with_effects(const char* name, Vector effects) {
  Vector codes(effects.size());
  std::iota(codes.begin(), codes.end(), 0);
  return with_codes(name, std::move(codes), std::move(effects));
}

/// Whole numbers, each unit with the same effect.
Column counted(const char* name, int first, int last, double slope) {
  Vector codes(static_cast<std::size_t>(last - first + 1));
  std::iota(codes.begin(), codes.end(), first);
  Vector effects = codes;
  for (double& effect : effects) effect *= slope;
  return with_codes(name, std::move(codes), std::move(effects));
}

Column measured(const char* name, double low, double high, double slope) {
  const Population feature{(low + high) / 2, (high - low) * (high - low) / 12};
  return {name, {}, {}, feature, {slope * feature.mean, slope * slope * feature.variance}, slope};
}

/// Terms of a label, which is their sum: `base`, effects of the columns, and normal noise of deviation `noise`.
struct Design {
  std::vector<Column> columns;
  double base;
  double noise;
};

Design insurance_design() {
  const Vector illness{0, 1000, 2000, 5000};  // none, high blood pressure, diabetes, heart disease
  std::vector<Column> columns{
      counted("age", 18, 65, 20),
      with_effects("gender", {0, 1000}),  // female, male
      measured("bmi", 18, 50, 50),
      counted("children", 0, 5, 200),
      with_effects("smoker", {0, 5000}),
      with_effects("medical_history", illness),
      with_effects("family_medical_history", illness),
      with_effects("exercise_frequency", {0, 1000, 500, 2000}),  // never, occasionally, rarely, frequently
      with_effects("occupation", {500, 0, 1500, 2000}),          // student, unemployed, blue collar, white collar
      with_effects("coverage_level", {0, 2000, 5000})};          // basic, standard, premium
  return {std::move(columns), 2500, 430};
}

/// Fares in dollars depend on distance and time alone.
Design rides_design() {
  std::vector<Column> columns{measured("distance", 1, 40, 1.5),   measured("rating", 3, 5, 0),
                              counted("total_rides", 0, 5000, 0), counted("year", 2010, 2023, 0),
                              counted("capacity", 4, 7, 0),       measured("time_cost", 5, 90, 0.3)};
  return {std::move(columns), 3, 8};
}

Standardisation standard_of(const Population& population) {
  return {population.mean, std::sqrt(population.variance)};
}

/// Coefficients are those of least squares on the population. Features are independent, so each has its own slope.
std::unique_ptr<Generator> make_of(const Design& design, const Spec& spec) {
  const bool standardised = integer_within(spec, "standardised", 1, 0, 1) == 1;
  const auto& [columns, base, noise] = design;
  std::vector<std::string> names;
  std::vector<double> coefficients;  // the intercept last
  std::vector<Standardisation> scales(columns.size());
  Population charges{base, noise * noise};
  double intercept = base;
  for (const Column& column : columns) {
    names.emplace_back(column.name);
    charges.mean += column.effect.mean;
    charges.variance += column.effect.variance;
    coefficients.push_back(column.slope);
    intercept += column.effect.mean - column.slope * column.feature.mean;
  }
  coefficients.push_back(standardised ? 0 : intercept);
  const Standardisation of_label = standardised ? standard_of(charges) : Standardisation();
  for (std::size_t j = 0; standardised && j < columns.size(); ++j) {
    scales[j] = standard_of(columns[j].feature);
    coefficients[j] *= scales[j].deviation / of_label.deviation;
  }
  const auto draw = [design, scales, of_label](Round, Client, AddressedRandom& random, MutableView values) {
    double sum = design.base;
    for (std::size_t j = 0; j < design.columns.size(); ++j) {
      const Column::Draw drawn = design.columns[j].draw(random);
      values[j] = scales[j].of(drawn.feature);
      sum += drawn.effect;
    }
    return of_label.of(sum + design.noise * random.normal());
  };
  return std::make_unique<Generator>(columns.size(), records_of(spec), draw, coefficients, names);
}

}  // namespace

/// Effects of codes are not linear, so weighted fits converge to other values. With Mallows weights standardised slopes
/// change by up to 0.005 and the intercept is -0.029.
std::unique_ptr<Generator> make_insurance(const Spec& spec, const Audience&) {
  return make_of(insurance_design(), spec);
}

std::unique_ptr<Generator> make_rides(const Spec& spec, const Audience&) {
  return make_of(rides_design(), spec);
}

}  // namespace starling
