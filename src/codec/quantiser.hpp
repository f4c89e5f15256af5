/// Quantisers: the one family of codecs that round. Embeddings and heads travel by them with an exact count of the bits
/// (docs/methods/vertical.md, Algorithm), and so do models (docs/methods/decentralized.md, "Compressed messages") and
/// curvatures (codec.hpp).
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "codec/codec.hpp"
#include "core/columns.hpp"
#include "core/text/spec.hpp"

namespace starling {

/// A codec that counts bits. Equal numbers give equal bytes, always and on all ranks.
class Quantiser : public Codec {
 public:
  /// Bits of a message of `numbers` numbers: the codes of the numbers, without gaps, and the range (64 bits) if the
  /// quantiser sends one. 0 for a message without numbers.
  [[nodiscard]] virtual std::size_t bits(std::size_t numbers) const = 0;
  /// bits(numbers) in whole bytes; the last byte is padded with zeros.
  [[nodiscard]] std::size_t bytes(std::size_t numbers) const final { return (bits(numbers) + 7) / 8; }

  /// Encodes `numbers` into `message`. Throws DataError, naming the place of the number, for a non-finite number, and,
  /// if a range is sent, for a number beyond the range of floats (3.4e38). Throws FailureError if the length of the
  /// message is not bytes(numbers.size()).
  void encode(View numbers, std::span<std::byte> message) const final;
  /// Decodes `message` into `numbers`. Any bytes of the right length give numbers, or DataError if their range is
  /// invalid. Throws FailureError if the length of the message is not bytes(numbers.size()).
  void decode(std::span<const std::byte> message, MutableView numbers) const final;

  /// Whether the number of bits per component can be chosen.
  [[nodiscard]] bool chooses_bits() const { return most_bits() > 0; }
  /// The most bits per component that can be chosen; 0 if none can.
  [[nodiscard]] virtual long long most_bits() const = 0;
  /// The same quantiser with another number of bits per component, for a schedule of them. Throws UsageError if there
  /// is no such choice, or not this one.
  [[nodiscard]] virtual std::unique_ptr<Quantiser> with_bits(long long bits) const = 0;

 protected:
  /// Encodes at least one number, all finite, into a message of the right length.
  virtual void put(View numbers, std::span<std::byte> message) const = 0;
  /// Decodes a message of the right length into at least one number.
  virtual void get(std::span<const std::byte> message, MutableView numbers) const = 0;
};

/// Table of the quantisers.
///   double, float32    IEEE numbers; numbers beyond the range of floats become infinite.
///   float16            IEEE binary16: rounded to nearest, ties to even; 65,520 and more become infinite.
///   bits:b             2^b levels lo + i w with w = (hi − lo)/(2^b − 1), 1 <= b <= 16, over the range lo … hi of the
///                      message, which is sent as two floats: an error of at most w/2. Numbers that equal levels are
///                      exact.
///   scalar:b           likewise the middles lo + (i + 1/2) w of 2^b cells of width w = (hi − lo)/2^b
///   hexagonal:b        pairs of numbers as the nearest (Euclidean distance) of 2^(2b) points in the square lo … hi,
///                      1 <= b <= 12: 2^b rows of 2^b, w = (hi − lo)/2^b apart and so within the row, every second row
///                      shifted by w/2. The error of a pair is within √13/4 w < 0.902 w, in a corner, and within
///                      0.625 w away from the sides. A last number without a partner is quantised as by scalar:b.
/// bits, scalar and hexagonal take b bits for each number and 64 for the range. The floats of the range are rounded
/// outwards, so that the range contains all numbers. If all numbers are equal, both floats are the nearest float, and
/// decoding returns that float (so a float is exact; zeros have the sign of the first zero).
///
/// A hexagonal lattice has a normalised second moment of 5/(36 √3) = 0.0802, square cells have 1/12 = 0.0833: at best
/// 3.8 % less mean squared error. Here the rows are 2/√3 as far apart as in the regular lattice, so that 2^(2b) points
/// fill the square (0.0807, 3.1 % less). Regular rows, of which 1.07 · 2^b fit, leave codes without points. Measured,
/// in per cent of the error of `scalar` at equal bits (Gaussian: 320 numbers in a message):
///   b                   1      2      3      4      5      6      8
///   uniform           115    105    101     99     98     97     97
///   Gaussian           94     98     97     97     97     97     97
/// With few points, the sides of the square cost more than the lattice gains.
[[nodiscard]] const Table<Quantiser>& quantiser_table();

}  // namespace starling
