#include "starling/record/figures/test_metrics.hpp"

#include <algorithm>
#include <cmath>

#include "starling/core/check.hpp"

namespace starling {

namespace {

/// NaN where nothing is divided by nothing.
double share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : std::nan("");
}

double mean_of_known(const Vector& values) {
  double total = 0;
  double known = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    total += value;
    ++known;
  }
  return known > 0 ? total / known : std::nan("");
}

/// One class against the rest.
struct Sides {
  std::int64_t true_positive = 0;
  std::int64_t false_positive = 0;
  std::int64_t false_negative = 0;
  std::int64_t true_negative = 0;

  [[nodiscard]] double precision() const { return share(true_positive, true_positive + false_positive); }
  [[nodiscard]] double recall() const { return share(true_positive, true_positive + false_negative); }
  [[nodiscard]] double f1() const {
    return share(2 * true_positive, 2 * true_positive + false_positive + false_negative);
  }
  [[nodiscard]] double specificity() const { return share(true_negative, true_negative + false_positive); }
};

std::vector<Sides> sides_of(const std::vector<std::int64_t>& counts, std::size_t classes) {
  std::vector<Sides> all(classes);
  for (std::size_t k = 0; k < classes; ++k) {
    for (std::size_t i = 0; i < classes; ++i) {
      for (std::size_t j = 0; j < classes; ++j) {
        const std::int64_t count = counts[i * classes + j];
        Sides& sides = all[k];
        (i == k   ? (j == k ? sides.true_positive : sides.false_negative)
         : j == k ? sides.false_positive
                  : sides.true_negative) += count;
      }
    }
  }
  return all;
}

std::size_t place_of(double value, const std::vector<double>& classes, const char* what, std::size_t record) {
  const auto found = std::lower_bound(classes.begin(), classes.end(), value);
  check<DataError>(found != classes.end() && *found == value,
                   "record {} of the test set: {} class {} is none of the {} known ones (it must be one that the model "
                   "can predict) see --positive and --classes",
                   record + 1, what, value, classes.size());
  return static_cast<std::size_t>(found - classes.begin());
}

}  // namespace

TestMetrics test_metrics(std::vector<double> classes, View truth, View predicted) {
  check<FailureError>(truth.size() == predicted.size() && classes.size() >= 2,
                      "{} predictions of {} classes for {} records (one each, of two classes at least) this is a fault "
                      "of the program",
                      predicted.size(), classes.size(), truth.size());
  std::sort(classes.begin(), classes.end());
  TestMetrics metrics;
  const std::size_t n = classes.size();
  metrics.counts.assign(n * n, 0);
  std::int64_t right = 0;
  for (std::size_t r = 0; r < truth.size(); ++r) {
    const std::size_t i = place_of(truth[r], classes, "true", r);
    const std::size_t j = place_of(predicted[r], classes, "predicted", r);
    ++metrics.counts[i * n + j];
    right += i == j ? 1 : 0;
  }
  metrics.classes = std::move(classes);
  metrics.accuracy = share(right, static_cast<std::int64_t>(truth.size()));
  const std::vector<Sides> sides = sides_of(metrics.counts, n);
  const auto mean = [&](double (Sides::*figure)() const, std::size_t from) {
    Vector values;
    for (std::size_t k = from; k < n; ++k) values.push_back((sides[k].*figure)());
    return mean_of_known(values);
  };
  const std::size_t first = n == 2 ? 1 : 0;
  metrics.balanced_accuracy = mean(&Sides::recall, 0);
  metrics.precision = mean(&Sides::precision, first);
  metrics.recall = mean(&Sides::recall, first);
  metrics.f1 = mean(&Sides::f1, first);
  metrics.specificity = mean(&Sides::specificity, first);
  return metrics;
}

}  // namespace starling
