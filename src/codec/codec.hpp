/// Encodings of the numbers of a contribution to the aggregator: unchanged, or in fewer bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "core/columns.hpp"

namespace starling {

/// Encoder and decoder of messages. The loss of an encoding is the same for every client, clients of rank 0 included,
/// so that results do not depend on the layout.
class Codec {
 public:
  virtual ~Codec() = default;
  /// Length in bytes of a message of `numbers` numbers.
  [[nodiscard]] virtual std::size_t bytes(std::size_t numbers) const = 0;
  /// `message` has bytes(numbers.size()) bytes.
  virtual void encode(View numbers, std::span<std::byte> message) const = 0;
  virtual void decode(std::span<const std::byte> message, MutableView numbers) const = 0;
};

/// The codec that sends doubles unchanged.
[[nodiscard]] const Codec& plain_codec();

/// Codec for messages that end with packed upper triangles of symmetric matrices, row by row, order × (order + 1)/2
/// numbers each. The numbers before the triangles travel as doubles. `how` names the encoding of the triangles:
///   packed       as doubles
///   float32      as floats
///   quantised:b  the diagonal as floats, an entry (i, j) beside it as a b-bit integer, 2 <= b <= 32: the multiple of
///                1/(2^(b-1) − 1) that is nearest to H_ij / √(H_ii H_jj), which lies in [−1, 1] for positive
///                semi-definite H. The error is at most √(H_ii H_jj)/(2^b − 2) plus the diagonal's rounding. A triangle
///                fills whole bytes: 4 order + ⌈b order (order − 1)/16⌉.
/// The `numbers` of a message are `before` numbers and a whole number of triangles. Non-finite numbers stay non-finite.
/// Numbers beyond the range of floats (3.4e38) become infinite. Throws UsageError for any other `how`. quantised throws
/// DataError for a matrix that is not positive semi-definite (|H_ij| > √(H_ii H_jj) by more than rounding or 1e-100, or
/// a negative diagonal). Noise may be the cause.
[[nodiscard]] std::unique_ptr<Codec> make_curvature_codec(std::string_view how, std::size_t before, std::size_t order);

}  // namespace starling
