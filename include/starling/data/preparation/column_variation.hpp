/// Which features vary: one that does not cannot be told from an intercept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "starling/core/batch.hpp"

namespace starling {

/// Looks at records one by one. What it says is computed from them and not protected in any way.
class ColumnVariation {
 public:
  /// Dense and sparse rows, of any number of features; what a sparse row leaves out is 0.
  void add(const Row& row);
  [[nodiscard]] std::int64_t records() const { return records_; }
  /// The features, ascending, of `features` that had one value in all records; all of them where there were fewer than
  /// two.
  [[nodiscard]] std::vector<std::size_t> constant(std::size_t features) const;

 private:
  struct Column {
    double value = 0;           ///< the first that is not 0
    std::int64_t nonzeros = 0;  ///< records in which it is not 0
    bool varies = false;        ///< among those
  };

  std::int64_t records_ = 0;
  std::vector<Column> columns_;
};

/// Of a batch, as text: "'smoker'", or "feature 3 (from 0)" without names.
[[nodiscard]] std::vector<std::string> constant_columns(const Batch& batch, std::size_t features,
                                                        const std::vector<std::string>& names);

}  // namespace starling
