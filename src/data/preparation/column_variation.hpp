/// Constant features, whose coefficients cannot be told from an intercept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/batch.hpp"

namespace starling {

/// Finds constant features, record by record. Results are computed from the records and not protected.
class ColumnVariation {
 public:
  /// Adds a dense or sparse row with any number of features; entries that a sparse row leaves out are 0.
  void add(const Row& row);
  [[nodiscard]] std::int64_t records() const { return records_; }
  /// Indices below `features`, ascending, of features with one value in all records; none after fewer than two records,
  /// which show nothing.
  [[nodiscard]] std::vector<std::size_t> constant(std::size_t features) const;

 private:
  struct Column {
    double value = 0;           ///< first value other than 0
    std::int64_t nonzeros = 0;  ///< records with another value than 0
    bool varies = false;        ///< whether these records differ
  };

  std::int64_t records_ = 0;
  std::vector<Column> columns_;
};

}  // namespace starling
