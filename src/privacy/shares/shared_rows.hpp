/// Records of one party as fixed-point numbers (docs/methods/shares.md, "Numbers").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/boundary.hpp"
#include "privacy/shares/ring.hpp"

namespace starling {

/// A party's rows, clipped and rounded.
struct SharedRows {
  std::vector<Word> words;   ///< n × d integers in two's complement, row after row: what sums are made of
  Vector numbers;            ///< the rows as reals, multiples of 2^-f: what scores are made of
  std::int64_t clipped = 0;  ///< number of rows that were longer than the bound, or not finite (which count as 0)
};

/// Clips rows of `columns` numbers to the L2 norm `bound`, and rounds each number towards zero to a multiple of 2^-f.
/// With `has_one` the last number of each row is a 1; else rows are clipped as if there were one, (x, 1).
/// So the integers of a row have a norm of at most ⌊bound 2^f⌋ (`integer_bound`), which is checked exactly.
///
/// Where records are grouped by persons, `records_of_person` has for each row the number m of records of its person,
/// and 0 for a row without a record, which becomes 0. The words of a row are then divided by m and rounded towards
/// zero, so that their norm is at most ⌊bound 2^f⌋ / m, and the m rows of a person together are as long as one record
/// at most. `numbers` are not divided.
[[nodiscard]] SharedRows shared_rows(View rows, std::size_t columns, bool has_one, double bound, int fraction_bits,
                                     std::span<const std::size_t> records_of_person = {});

/// ⌊bound 2^f⌋.
[[nodiscard]] std::int64_t integer_bound(double bound, int fraction_bits);

}  // namespace starling
