/// Streams of records that a test or a benchmark makes up.
#pragma once

#include <cstdint>
#include <optional>

#include "data/stream.hpp"

namespace starling::testing_support {

/// What has no end, and is charged as if no record came twice.
class EndlessStream : public Stream {
 public:
  [[nodiscard]] bool ended(Round) override { return false; }
  [[nodiscard]] std::int64_t participations() const override { return 1; }
  [[nodiscard]] std::optional<std::int64_t> records() const override { return std::nullopt; }
  [[nodiscard]] std::optional<Round> rounds_of_pass() const override { return std::nullopt; }
  [[nodiscard]] std::optional<Round> rounds() const override { return std::nullopt; }
};

}  // namespace starling::testing_support
