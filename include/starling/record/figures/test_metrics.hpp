/// Confusion counts and classification metrics on a public test set.
#pragma once

#include <cstdint>
#include <vector>

#include "starling/core/columns.hpp"

namespace starling {

/// The metrics, which lie in [0, 1] or are NaN where undefined, and the confusion counts.
///
/// For two classes precision, recall, F1 and specificity are of the larger class, +1. For more classes they are means
/// over classes, each against the rest, where defined: precision TP/(TP + FP) over predicted classes, recall TP/(TP +
/// FN) over occurring classes, F1 = 2TP/(2TP + FP + FN) over classes that are either, specificity TN/(TN + FP) over
/// classes with other records. Balanced accuracy is the mean recall of the occurring classes.
struct TestMetrics {
  std::vector<double> classes;       ///< ascending
  std::vector<std::int64_t> counts;  ///< confusion matrix by (true class, predicted class), row by row
  double accuracy = 0;
  double balanced_accuracy = 0;
  double precision = 0;
  double recall = 0;
  double f1 = 0;
  double specificity = 0;
};

/// The metrics of one prediction for each record. `truth` and `predicted` take values from `classes`, at least two, all
/// different. Throws DataError for another value, naming the record, and FailureError for lengths that differ.
[[nodiscard]] TestMetrics test_metrics(std::vector<double> classes, View truth, View predicted);

}  // namespace starling
