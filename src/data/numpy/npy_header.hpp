/// Headers of NumPy's file format .npy (versions 1 to 3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace starling
