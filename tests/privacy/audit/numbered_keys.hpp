/// Noise keys of audits in tests.
#pragma once

#include <cstddef>
#include <cstdint>

#include "privacy/audit/audit_subjects.hpp"

namespace starling {

/// Keys that differ by side and sample, and are the same in every audit with this seed: tests do not depend on luck.
inline AuditKeys numbered_audit_keys(std::uint64_t seed) {
  return [seed](int side, std::int64_t sample) {
    NoiseKey::Bytes bytes{};
    const auto write = [&](std::uint64_t value, std::size_t at) {
      for (std::size_t i = 0; i < sizeof value; ++i) bytes[at + i] = static_cast<unsigned char>(value >> (8 * i));
    };
    write(seed, 0);
    write(static_cast<std::uint64_t>(side), 8);
    write(static_cast<std::uint64_t>(sample), 16);
    return NoiseKey(bytes);
  };
}

}  // namespace starling
