/// How the numbers of a contribution travel to the aggregator: as they are, or in fewer bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "starling/core/columns.hpp"

namespace starling {

/// Encoding loses what it loses in the same way for every client, those of rank 0 too, so that results do not depend on
/// the layout.
class Codec {
 public:
  virtual ~Codec() = default;
  /// Of a message of so many numbers.
  [[nodiscard]] virtual std::size_t bytes(std::size_t numbers) const = 0;
  /// `message` has bytes(numbers.size()) bytes.
  virtual void encode(View numbers, std::span<std::byte> message) const = 0;
  virtual void decode(std::span<const std::byte> message, MutableView numbers) const = 0;
};

/// Doubles as they are.
[[nodiscard]] const Codec& plain_codec();

/// For a message that ends with packed upper triangles of symmetric matrices, row by row, order × (order + 1)/2 numbers
/// each: what stands before them travels as doubles, the triangles as `how` says.
///   packed       as doubles
///   float32      as floats
///   quantised:b  the diagonal as floats, an entry (i, j) beside it as a b-bit integer, 2 <= b <= 32: the multiple of
///                1/(2^(b-1) − 1) that is nearest to H_ij / √(H_ii H_jj), which lies in [−1, 1] for positive
///                semi-definite H. It comes back within √(H_ii H_jj)/(2^b − 2) and the diagonal's rounding. A triangle
///                fills whole bytes: 4 order + ⌈b order (order − 1)/16⌉.
/// `numbers` are `before` and a whole number of triangles. What is not finite stays so; what floats do not hold (beyond
/// 3.4e38) becomes infinite. Throws UsageError for another text; quantised throws DataError for what is not positive
/// semi-definite (|H_ij| > √(H_ii H_jj) by more than rounding or 1e-100, a negative diagonal): noise may have made it
/// so.
[[nodiscard]] std::unique_ptr<Codec> make_curvature_codec(std::string_view how, std::size_t before, std::size_t order);

}  // namespace starling
