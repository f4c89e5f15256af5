/// Binary files that the tests build by hand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace starling::testing_support {

/// The bytes of an unsigned number in big endian.
inline std::string big_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes; i-- > 0;) text += static_cast<char>(value >> (8 * static_cast<unsigned>(i)) & 0xFFU);
  return text;
}

inline std::string idx_file(unsigned char type, const std::vector<std::uint32_t>& sizes, const std::string& values) {
  std::string text{'\0', '\0', static_cast<char>(type), static_cast<char>(sizes.size())};
  for (const std::uint32_t size : sizes) text += big_endian(size, 4);
  return text + values;
}

/// `records` × `width` bytes that count up.
inline std::string idx_bytes(std::uint32_t records, std::uint32_t width) {
  std::string values;
  for (std::uint32_t i = 0; i < records * width; ++i) values += static_cast<char>(i * 37U);
  return idx_file(0x08, {records, width}, values);
}

}  // namespace starling::testing_support
