/// Encodings of the numbers of a message: unchanged, or in fewer bytes.
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

/// Codec for models and what belongs to them: the last number, a weight, travels as a double, and a quantiser
/// (quantiser.hpp) of the name `how` writes the others. `double` sends all numbers unchanged. Throws UsageError for any
/// other `how`.
[[nodiscard]] std::unique_ptr<Codec> make_model_codec(std::string_view how);

/// Codec for messages that end with packed upper triangles of symmetric matrices, row by row, order × (order + 1)/2
/// numbers each. The numbers before the triangles travel as doubles. `how` names a quantiser. One with a fixed number
/// of bits writes the triangles as they are. Others write a triangle's diagonal as floats, and the entries beside it as
/// correlations H_ij / √(H_ii H_jj), which lie in [−1, 1] for positive semi-definite H: with `bits:b` the error is at
/// most √(H_ii H_jj)/(2^b − 1) plus the diagonal's rounding.
/// The `numbers` of a message are `before` numbers and a whole number of triangles. Numbers beyond the range of floats
/// (3.4e38) become infinite. Throws UsageError for any other `how`. Encoding throws as quantisers do, and with
/// correlations DataError for a matrix that is not positive semi-definite (|H_ij| > √(H_ii H_jj) by more than rounding
/// or 1e-100, or a negative diagonal). Noise may be the cause.
[[nodiscard]] std::unique_ptr<Codec> make_curvature_codec(std::string_view how, std::size_t before, std::size_t order);

}  // namespace starling
