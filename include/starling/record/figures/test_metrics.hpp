/// What predictions on a public test set come to: who was taken for whom, and the figures made of it.
#pragma once

#include <cstdint>
#include <vector>

#include "starling/core/columns.hpp"

namespace starling {

/// All but the counts lie in [0, 1], or are NaN where nothing defines them.
///
/// For two classes precision, recall, F1 and specificity are those of the larger one, +1. For more they are means over
/// the classes, each against the rest, for which they are defined: precision TP/(TP + FP) for those that are
/// predicted, recall TP/(TP + FN) for those that occur, F1 = 2TP/(2TP + FP + FN) for those that do either, specificity
/// TN/(TN + FP) for those that are not all there is. Balanced accuracy is always the mean recall of the classes that
/// occur.
struct TestMetrics {
  std::vector<double> classes;       ///< ascending
  std::vector<std::int64_t> counts;  ///< of (true class, predicted class): classes × classes, row by row
  double accuracy = 0;
  double balanced_accuracy = 0;
  double precision = 0;
  double recall = 0;
  double f1 = 0;
  double specificity = 0;
};

/// Of the records whose classes are `truth`, one `predicted` each; both take values from `classes`, at least two, all
/// different. Throws DataError for another value, naming the record, and FailureError for lengths that differ.
[[nodiscard]] TestMetrics test_metrics(std::vector<double> classes, View truth, View predicted);

}  // namespace starling
