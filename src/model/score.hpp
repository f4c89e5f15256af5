/// Scores of models.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/snapshot.hpp"

namespace starling {

/// Sums over the records of a batch, under one model. A record is *out of range*, and adds nothing, if its loss is not
/// finite, or if its gradient is not finite or longer than 1e150 (networks of floats: 1e15). Such a gradient could not
/// be clipped exactly.
struct Score {
  double loss = 0;
  std::int64_t correct = 0;       ///< records whose class is predicted; 0 for losses that do not classify
  std::int64_t records = 0;       ///< records in range, over which `loss` and `correct` are taken
  std::int64_t out_of_range = 0;  ///< other records

  Score& operator+=(const Score& other) {
    loss += other.loss;
    correct += other.correct;
    records += other.records;
    out_of_range += other.out_of_range;
    return *this;
  }
  /// Score of public records, which may not leave any out: the loss is infinite if a record was out of range.
  [[nodiscard]] Score of_all() const {
    const double total = out_of_range > 0 ? std::numeric_limits<double>::infinity() : loss;
    return {total, correct, records + out_of_range, 0};
  }
  void persist(Snapshot& snapshot) { snapshot(loss, correct, records, out_of_range); }
};

/// Score of one record, which is out of range if the loss is not finite.
[[nodiscard]] inline Score score_of_record(double loss, bool correct) {
  return std::isfinite(loss) ? Score{loss, correct ? 1 : 0, 1, 0} : Score{0, 0, 0, 1};
}

}  // namespace starling
