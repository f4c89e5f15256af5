// Whole numbers of a few bits, packed one after the other, lowest bits first. Internal to the codec module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace starling {

class BitWriter {
 public:
  /// Writes to `bytes` from the front.
  explicit BitWriter(std::span<std::byte> bytes) : bytes_(bytes) {}
  /// Writes the lowest `bits` bits of `word`, at most 32. The other bits must be zero.
  void put(std::uint64_t word, unsigned bits) {
    held_ |= word << count_;
    for (count_ += bits; count_ >= 8; count_ -= 8) drop_byte();
  }
  /// Writes the remaining bits, padded to a byte.
  void finish() {
    if (count_ > 0) drop_byte();
    count_ = 0;
  }

 private:
  void drop_byte() {
    bytes_[next_++] = static_cast<std::byte>(held_ & 0xffU);
    held_ >>= 8U;
  }

  std::span<std::byte> bytes_;
  std::size_t next_ = 0;
  std::uint64_t held_ = 0;
  unsigned count_ = 0;
};

class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  [[nodiscard]] std::uint64_t get(unsigned bits) {
    for (; count_ < bits; count_ += 8) held_ |= std::to_integer<std::uint64_t>(bytes_[next_++]) << count_;
    const std::uint64_t word = held_ & ((std::uint64_t{1} << bits) - 1);
    held_ >>= bits;
    count_ -= bits;
    return word;
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t next_ = 0;
  std::uint64_t held_ = 0;
  unsigned count_ = 0;
};

}  // namespace starling
