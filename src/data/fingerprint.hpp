/// Fingerprints of contents.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "data/source.hpp"

namespace starling {

/// Hash of 64-bit words that two different files are unlikely to share. The hash guards against mistakes, not against
/// an adversary.
class Fingerprint {
 public:
  void add(std::uint64_t word) {
    state_ = std::rotl((state_ ^ word) * 0x9e3779b97f4a7c15ULL, 29) + 0x2545f4914f6cdd1dULL;
  }
  void add(const Record& record) {
    add(std::bit_cast<std::uint64_t>(record.label));
    if (record.left_out) add(std::uint64_t{1});
    add(record.values.size());
    for (const double value : record.values) add(std::bit_cast<std::uint64_t>(value));
    for (const std::int32_t index : record.index) add(static_cast<std::uint64_t>(index));
    for (const char c : record.key) add(static_cast<unsigned char>(c));
  }
  [[nodiscard]] std::uint64_t value() const { return state_; }
  [[nodiscard]] std::string text() const { return fmt::format("{:016x}", state_); }

 private:
  std::uint64_t state_ = 1;
};

/// Fingerprint of a record as its reader gives it.
inline std::uint64_t fingerprint_of(const Record& record) {
  Fingerprint fingerprint;
  fingerprint.add(record);
  return fingerprint.value();
}

}  // namespace starling
