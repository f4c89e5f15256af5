#include "output/figures/test_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "core/check.hpp"
#include "core/numerics/hazard.hpp"
#include "core/numerics/logistic.hpp"

namespace starling {

namespace {

/// Predicted means are no smaller, so that their logarithms are finite.
constexpr double least_mean = 1e-300;

/// NaN where nothing is divided by nothing.
double share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : std::nan("");
}

double mean(const LongSum& total, std::int64_t count) {
  return count > 0 ? total.value() / static_cast<double>(count) : std::nan("");
}

/// The mean of a figure over the classes that have one.
double mean_of_known(const std::vector<ClassMetrics>& classes, std::size_t from, double ClassMetrics::*figure) {
  double total = 0;
  double known = 0;
  for (std::size_t k = from; k < classes.size(); ++k) {
    if (std::isnan(classes[k].*figure)) continue;
    total += classes[k].*figure;
    ++known;
  }
  return known > 0 ? total / known : std::nan("");
}

/// A class that neither occurs nor is predicted has no figures. Of another one 0/0 is 0, as scikit-learn has it.
ClassMetrics metrics_of_class(double label, std::int64_t hits, std::int64_t predicted, std::int64_t occurring,
                              std::int64_t all) {
  const std::int64_t others = all - occurring;
  const bool known = predicted + occurring > 0;
  return {label,
          occurring,
          predicted,
          known ? share(hits, std::max<std::int64_t>(predicted, 1)) : std::nan(""),
          known ? share(hits, std::max<std::int64_t>(occurring, 1)) : std::nan(""),
          share(2 * hits, predicted + occurring),
          known ? share(others - (predicted - hits), others) : std::nan("")};
}

/// The mean recall of the classes that occur.
double balanced_accuracy(const std::vector<ClassMetrics>& classes) {
  double total = 0;
  std::int64_t occurring = 0;
  for (const ClassMetrics& each : classes) {
    if (each.records == 0) continue;
    total += each.recall;
    ++occurring;
  }
  return occurring > 0 ? total / static_cast<double>(occurring) : std::nan("");
}

/// Labels of the classes that scores of this form tell apart, ascending; none where scores name classes.
Vector labels_of(const PredictionForm& form) {
  if (!form.classifies || form.names_classes) return {};
  if (form.scores == 1) return {-1, 1};
  Vector labels(form.scores);
  std::iota(labels.begin(), labels.end(), 0.0);
  return labels;
}

/// ln(1 + e^{−margin}).
double logistic_loss(double margin) {
  return std::log1p(std::exp(-std::abs(margin))) + std::max(-margin, 0.0);
}

}  // namespace

void LongSum::add(double term) {
  const double sum = sum_ + term;
  if (std::isfinite(sum)) correction_ += std::abs(sum_) >= std::abs(term) ? (sum_ - sum) + term : (term - sum) + sum_;
  sum_ = sum;
}

PredictionTally::Counts::Counts(Vector of_classes)
    : labels(std::move(of_classes)),
      occurring(size(), 0),
      predicted(size(), 0),
      hits(size(), 0),
      confusion(size() <= most_confused ? size() * size() : 0, 0) {}

void PredictionTally::Counts::add(std::size_t truth, std::optional<std::size_t> guess, std::int64_t records) {
  occurring[truth] += records;
  if (!guess) return;
  predicted[*guess] += records;
  hits[truth] += *guess == truth ? records : 0;
  if (!confusion.empty()) confusion[truth * size() + *guess] += records;
}

PredictionTally::PredictionTally(const PredictionForm& form)
    : form_(form),
      classes_(labels_of(form).size()),
      zeros_(form.scores, 0.0),
      counts_(labels_of(form)),
      probabilities_(form.scores) {
  check<FailureError>(form.predicts() && (form.classifies || form.scores == 1),
                      "metrics of {} scores that predict no label: this is a fault of the program.", form.scores);
}

std::size_t PredictionTally::class_of(double label) const {
  const bool known = form_.scores == 1 ? label == 1 || label == -1 : is_class(label, form_.scores);
  check<FailureError>(known, "a label that is none of {} classes: this is a fault of the program.", classes_);
  return form_.scores == 1 ? (label > 0 ? 1 : 0) : static_cast<std::size_t>(label);
}

void PredictionTally::add(View scores, double label) {
  ++records_;
  const bool finite = std::ranges::all_of(scores, [](double score) { return std::isfinite(score); });
  if (!form_.classifies) {
    const double prediction = form_.link == Link::log ? std::exp(scores[0]) : scores[0];
    return add_number(finite ? prediction : std::numeric_limits<double>::infinity(), label);
  }
  if (form_.names_classes) {
    ++names_[{label, finite ? std::optional(scores[0]) : std::nullopt}];
    return;
  }
  const std::size_t truth = class_of(label);
  const View known = finite ? scores : View(zeros_);
  add_class(known, truth);
  if (gives_probabilities(form_.link)) add_probabilities(known, truth);
  if (!finite) log_loss_.add(std::numeric_limits<double>::infinity());
}

std::size_t PredictionTally::predicted_class(View scores, std::size_t truth) const {
  if (scores.size() == 1) return (truth == 1 ? scores[0] : -scores[0]) > 0 ? truth : 1 - truth;
  if (is_highest(scores, truth)) return truth;
  std::size_t best = truth == 0 ? 1 : 0;
  for (std::size_t k = best + 1; k < scores.size(); ++k) {
    if (k != truth && scores[k] > scores[best]) best = k;
  }
  return best;
}

void PredictionTally::add_class(View scores, std::size_t truth) {
  counts_.add(truth, predicted_class(scores, truth));
  if (classes_ == 2) (truth == 1 ? margins_larger_ : margins_smaller_).push_back(margin(scores));
}

void PredictionTally::calibrate(double probability, bool happened) {
  const auto tenths = static_cast<double>(bins_.size());
  Bin& bin = bins_[static_cast<std::size_t>(std::min(std::floor(tenths * probability), tenths - 1))];
  ++bin.records;
  bin.happened += happened ? 1 : 0;
  bin.probability.add(probability);
}

void PredictionTally::add_probabilities(View scores, std::size_t truth) {
  if (form_.link == Link::hazard) {
    const double probability = event_probability(scores[0]);
    const double error = truth == 1 ? 1 - probability : probability;
    log_loss_.add(truth == 1 ? -std::log(probability) : cumulative_hazard(scores[0]));
    brier_.add(error * error);
    return calibrate(probability, truth == 1);
  }
  if (classes_ == 2) {
    const double own = margin(scores);
    const double probability = logistic(own);
    const double error = truth == 1 ? logistic(-own) : probability;
    log_loss_.add(logistic_loss(truth == 1 ? own : -own));
    brier_.add(error * error);
    return calibrate(probability, truth == 1);
  }
  const double top = std::ranges::max(scores);
  double total = 0;
  for (std::size_t k = 0; k < classes_; ++k) total += probabilities_[k] = std::exp(scores[k] - top);
  log_loss_.add(std::log(total) - (scores[truth] - top));
  double squares = 0;
  for (std::size_t k = 0; k < classes_; ++k) {
    const double error = probabilities_[k] / total - (k == truth ? 1 : 0);
    squares += error * error;
  }
  brier_.add(squares);
  calibrate(1 / total, is_highest(scores, truth));
}

void PredictionTally::add_number(double score, double label) {
  const double error = std::abs(score - label);
  squared_errors_.add(error * error);
  absolute_errors_.add(error);
  const double distance = label - mean_;  // Welford 1962
  mean_ += distance / static_cast<double>(records_);
  squared_spread_.add(distance * (label - mean_));
  if (form_.deviance == nullptr) return;
  deviance_.add(form_.deviance(std::max(score, least_mean), label));
  labels_.push_back(label);
}

ProbabilityMetrics PredictionTally::probability_metrics() const {
  ProbabilityMetrics metrics{mean(log_loss_, records_), mean(brier_, records_), {}};
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    const Bin& bin = bins_[i];
    metrics.calibration[i] = {bin.records, mean(bin.probability, bin.records), share(bin.happened, bin.records)};
  }
  return metrics;
}

PredictionTally::Counts PredictionTally::counts_of_names() const {
  std::set<double> labels;
  for (const auto& [pair, records] : names_) {
    labels.insert(pair.first);
    if (pair.second) labels.insert(*pair.second);
  }
  check<DataError>(
      labels.size() <= most_confused,
      "the model predicts {} different classes. A prediction must be the label of a class, unless the model "
      "does not say that it classifies.",
      labels.size());
  Counts counts(Vector(labels.begin(), labels.end()));
  const auto place = [&](double label) {
    return static_cast<std::size_t>(std::ranges::lower_bound(counts.labels, label) - counts.labels.begin());
  };
  for (const auto& [pair, records] : names_) {
    counts.add(place(pair.first), pair.second ? std::optional(place(*pair.second)) : std::nullopt, records);
  }
  return counts;
}

Classification PredictionTally::classification(const Counts& counts) const {
  Classification result;
  std::int64_t right = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    result.classes.push_back(
        metrics_of_class(counts.labels[k], counts.hits[k], counts.predicted[k], counts.occurring[k], records_));
    right += counts.hits[k];
  }
  const std::size_t first = counts.size() == 2 ? 1 : 0;
  result.confusion = counts.confusion;
  result.accuracy = share(right, records_);
  result.balanced_accuracy = balanced_accuracy(result.classes);
  result.precision = mean_of_known(result.classes, first, &ClassMetrics::precision);
  result.recall = mean_of_known(result.classes, first, &ClassMetrics::recall);
  result.f1 = mean_of_known(result.classes, first, &ClassMetrics::f1);
  result.specificity = mean_of_known(result.classes, first, &ClassMetrics::specificity);
  if (classes_ == 2) result.roc = area_under_roc(margins_larger_, margins_smaller_);
  if (gives_probabilities(form_.link)) result.probabilities = probability_metrics();
  return result;
}

TestMetrics PredictionTally::metrics() const {
  TestMetrics result;
  result.records = records_;
  if (form_.classifies) {
    result.classification = classification(form_.names_classes ? counts_of_names() : counts_);
    return result;
  }
  result.regression = regression();
  return result;
}

RegressionMetrics PredictionTally::regression() const {
  const double squares = squared_errors_.value();
  const double spread = squared_spread_.value();
  RegressionMetrics metrics{.r2 = spread > 0 ? 1 - squares / spread : std::nan(""),
                            .rmse = std::sqrt(mean(squared_errors_, records_)),
                            .mae = mean(absolute_errors_, records_),
                            .deviance = {},
                            .null_deviance = {}};
  if (form_.deviance == nullptr) return metrics;
  LongSum null;
  for (const double label : labels_) null.add(mean_ > 0 ? form_.deviance(mean_, label) : std::nan(""));
  metrics.deviance = mean(deviance_, records_);
  metrics.null_deviance = mean(null, records_);
  return metrics;
}

}  // namespace starling
