/// Metrics of predictions, from records' scores and labels one by one.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/columns.hpp"
#include "loss/loss.hpp"
#include "output/figures/roc.hpp"

namespace starling {

/// The meaning of a model's scores, as its loss defines it.
struct PredictionForm {
  std::size_t scores = 1;  ///< K
  bool classifies = false;
  Link link = Link::identity;
  bool names_classes = false;    ///< the score is the label of the predicted class, of any set of labels
  Deviance* deviance = nullptr;  ///< of labels from predicted means; none of a loss without one

  [[nodiscard]] static PredictionForm of(const Loss& loss) {
    return {loss.scores(), loss.classifies(), loss.link(), false, loss.deviance()};
  }
  /// Whether scores predict labels: classes, the labels themselves, or their means.
  [[nodiscard]] bool predicts() const { return classifies || link == Link::identity || link == Link::log; }
};

/// Metrics of one class against the rest, in [0, 1]. Precision and recall are 0 where they divide 0 by 0. All are NaN
/// for a class that neither occurs nor is predicted, and the specificity is NaN where no other class occurs.
struct ClassMetrics {
  double label = 0;
  std::int64_t records = 0;    ///< of this class
  std::int64_t predicted = 0;  ///< records for which it is predicted
  double precision = 0;        ///< TP/(TP + FP)
  double recall = 0;           ///< TP/(TP + FN)
  double f1 = 0;               ///< 2TP/(2TP + FP + FN)
  double specificity = 0;      ///< TN/(TN + FP)
};

/// Records whose predicted probability lies in one tenth of [0, 1].
struct CalibrationBin {
  std::int64_t records = 0;
  double probability = 0;  ///< mean predicted probability; NaN without records
  double frequency = 0;    ///< share of records in which the predicted event happened; NaN without records
};
using Calibration = std::array<CalibrationBin, 10>;

/// Metrics of predicted probabilities. Of two classes the event is the larger class. Of more classes the event of the
/// calibration is that the most probable class is right.
struct ProbabilityMetrics {
  double log_loss = 0;  ///< mean −ln p of the true class
  double brier = 0;  ///< mean (p − y)² of two classes, in [0, 1]; of more classes mean Σ_k (p_k − y_k)², in [0, 2]
  Calibration calibration{};
};

/// Metrics of predicted classes, in [0, 1] or NaN where undefined.
///
/// For two classes precision, recall, F1 and specificity are of the larger class. For more classes they are means over
/// the classes that occur or are predicted. Balanced accuracy is the mean recall of the occurring classes.
struct Classification {
  std::vector<ClassMetrics> classes;  ///< ascending by label
  /// Confusion matrix by (true class, predicted class), row by row; empty for more than most_confused classes.
  std::vector<std::int64_t> confusion;
  double accuracy = 0;
  double balanced_accuracy = 0;
  double precision = 0;
  double recall = 0;
  double f1 = 0;
  double specificity = 0;
  std::optional<RocArea> roc;  ///< of two classes
  std::optional<ProbabilityMetrics> probabilities;
};
/// Largest number of classes with a confusion matrix.
inline constexpr std::size_t most_confused = 1000;

/// Metrics of predicted numbers.
struct RegressionMetrics {
  double r2 = 0;    ///< 1 − Σ(y − s)²/Σ(y − ȳ)²; NaN if all labels are equal
  double rmse = 0;  ///< root of the mean squared error
  double mae = 0;   ///< mean absolute error
  /// Mean deviance of the labels, and of a model that predicts their mean; none for a loss without a deviance. NaN for
  /// labels that all are 0.
  std::optional<double> deviance;
  std::optional<double> null_deviance;
};

struct TestMetrics {
  std::int64_t records = 0;
  std::optional<Classification> classification;
  std::optional<RegressionMetrics> regression;
};

/// A sum with a running correction (Neumaier 1974), exact to a few roundings for any number of terms.
class LongSum {
 public:
  void add(double term);
  [[nodiscard]] double value() const { return sum_ + correction_; }

 private:
  double sum_ = 0;
  double correction_ = 0;
};

/// The accumulator of the metrics.
///
/// Memory: counts of the classes, and 8 bytes a record for two classes, since the ROC area is exact, and for losses
/// with a deviance, whose last figure needs the labels' mean. A record whose scores are not all finite counts as wrong,
/// with scores of 0 and an infinite loss. A tie is wrong, as in Loss::correct. Where scores name classes, a record
/// whose score is not finite is predicted no class.
class PredictionTally {
 public:
  /// Throws FailureError for scores that predict nothing.
  explicit PredictionTally(const PredictionForm& form);

  /// Adds a record with K scores and a label in the form of the loss. Throws FailureError for another label.
  void add(View scores, double label);
  [[nodiscard]] std::int64_t records() const { return records_; }
  [[nodiscard]] TestMetrics metrics() const;

 private:
  /// Sums over one tenth of the probabilities.
  struct Bin {
    std::int64_t records = 0;
    std::int64_t happened = 0;
    LongSum probability;
  };

  /// Counts of the classes, ascending by label.
  struct Counts {
    Vector labels;
    std::vector<std::int64_t> occurring;
    std::vector<std::int64_t> predicted;
    std::vector<std::int64_t> hits;
    std::vector<std::int64_t> confusion;  ///< empty for more than most_confused classes

    explicit Counts(Vector of_classes);
    [[nodiscard]] std::size_t size() const { return labels.size(); }
    /// Counts records of a true class; `guess` is the predicted one, none where no class is predicted.
    void add(std::size_t truth, std::optional<std::size_t> guess, std::int64_t records = 1);
  };

  void add_class(View scores, std::size_t truth);
  void add_probabilities(View scores, std::size_t truth);
  void add_number(double score, double label);
  void calibrate(double probability, bool happened);
  [[nodiscard]] std::size_t class_of(double label) const;
  [[nodiscard]] std::size_t predicted_class(View scores, std::size_t truth) const;
  /// The larger class's score minus the other's.
  [[nodiscard]] double margin(View scores) const { return scores.size() == 2 ? scores[1] - scores[0] : scores[0]; }
  /// The counts by names of classes.
  [[nodiscard]] Counts counts_of_names() const;
  [[nodiscard]] Classification classification(const Counts& counts) const;
  [[nodiscard]] ProbabilityMetrics probability_metrics() const;
  [[nodiscard]] RegressionMetrics regression() const;

  PredictionForm form_;
  std::size_t classes_;
  std::int64_t records_ = 0;
  Vector zeros_;  ///< in place of scores that are not finite

  // Counts and sums where the model classifies:
  Counts counts_;
  std::map<std::pair<double, std::optional<double>>, std::int64_t> names_;  ///< records by true and predicted label
  Vector margins_larger_;   ///< of the records of the larger of two classes
  Vector margins_smaller_;  ///< of the other records
  LongSum log_loss_;
  LongSum brier_;
  std::array<Bin, 10> bins_;
  Vector probabilities_;

  // Sums of a regression:
  LongSum squared_errors_;
  LongSum absolute_errors_;
  double mean_ = 0;         ///< of the labels so far
  LongSum squared_spread_;  ///< Σ(y − ȳ)² of the labels so far
  LongSum deviance_;
  Vector labels_;  ///< so far, of a loss with a deviance
};

}  // namespace starling
