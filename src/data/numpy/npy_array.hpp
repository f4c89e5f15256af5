/// Arrays of NumPy, row by row.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "byte_source.hpp"
#include "core/batch.hpp"
#include "npy_header.hpp"

namespace starling {

/// An array of numbers with one or two dimensions, or of texts with one. An array in C order is read in slabs of about
/// 1 MB. One in Fortran order is kept in memory, as its bytes.
class NpyArray {
 public:
  /// `where` names the array in messages. Throws DataError for a damaged header, for more than two dimensions, and for
  /// values that are missing or left over.
  NpyArray(std::unique_ptr<ByteSource> bytes, std::string where);

  [[nodiscard]] std::size_t dimensions() const { return header_.shape.size(); }
  [[nodiscard]] std::uint64_t rows() const { return header_.shape[0]; }
  /// Values of a row: 1 of an array with one dimension.
  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] bool is_text() const { return header_.is_text(); }
  /// The values of row i of an array of numbers. The view holds until the next call. Throws DataError.
  [[nodiscard]] View row(std::uint64_t i);
  /// Key in a column of row i, as NpyHeader::key. Throws DataError.
  [[nodiscard]] std::optional<std::string> key(std::uint64_t i, std::size_t column);
  /// All texts of an array with one dimension, in UTF-8.
  [[nodiscard]] std::vector<std::string> texts();

 private:
  void load(std::uint64_t i);
  /// Bytes of a value, which are valid until the next call.
  [[nodiscard]] const char* bytes_of(std::uint64_t i, std::size_t column);

  std::unique_ptr<ByteSource> bytes_;
  std::string where_;
  NpyHeader header_;
  std::size_t width_ = 1;
  std::vector<char> slab_;  // whole rows, or all values of an array in Fortran order
  std::uint64_t first_ = 0;
  std::uint64_t count_ = 0;  // rows of the slab
  Vector values_;            // of a row
};

}  // namespace starling
