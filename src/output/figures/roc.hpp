/// The area under the ROC curve of two classes, with its standard error.
#pragma once

#include "core/columns.hpp"

namespace starling {

/// The area is the share of pairs, one record of each class, in which the larger class's record has the larger score.
/// Ties count half. It is NaN unless both classes occur. The standard error is that of DeLong, DeLong and
/// Clarke-Pearson (1988); it is NaN unless each class has two records.
struct RocArea {
  double area = 0;
  double standard_error = 0;
};

/// The area from the scores of the larger class's records and of the others'. Exact, ties included: O(n log n), in the
/// memory of the arguments.
[[nodiscard]] RocArea area_under_roc(Vector larger, Vector smaller);

}  // namespace starling
