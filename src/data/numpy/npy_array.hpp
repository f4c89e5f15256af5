/// Arrays of NumPy, row by row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/batch.hpp"
#include "data/numpy/byte_source.hpp"

namespace starling {

/// Type and shape of an array. Values are in little endian.
struct NpyHeader {
  /// Makes a number of a value's bytes; null where values are texts.
  double (*number)(const char* bytes) = nullptr;
  /// Makes a key of a value's bytes; none where the type may have made one key of two.
  std::optional<std::string> (*key)(const char* bytes) = nullptr;
  bool utf32 = false;    ///< whether texts are UTF-32, or else ASCII
  std::size_t size = 8;  ///< bytes of a value
  bool fortran = false;  ///< whether the first index varies fastest
  std::vector<std::uint64_t> shape;
  std::size_t length = 0;  ///< bytes of the header; values begin there

  [[nodiscard]] bool is_text() const { return number == nullptr; }
  [[nodiscard]] std::uint64_t values() const;
};

/// Bytes with which every such file begins.
inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// Most bytes of a header.
inline constexpr std::size_t most_npy_header = std::size_t{1} << 16;

/// Reads the header at the start of `head`, the first most_npy_header bytes of a file or all of a shorter one. `where`
/// names the file. Throws DataError for a damaged header and for other types, such as structures and big endian.
[[nodiscard]] NpyHeader read_npy_header(const std::string& where, std::string_view head);

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
