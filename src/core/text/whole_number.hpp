#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>

namespace starling {

/// `value` (a nlohmann::basic_json) if it is an integer that T can represent; otherwise nothing. The library's own
/// conversion casts: the cast is undefined for 1e25 and turns 2^32 into 0.
template <std::integral T, class Json>
[[nodiscard]] std::optional<T> whole_number(const Json& value) {
  const auto fitting = [](auto number) {
    return std::in_range<T>(number) ? std::optional(static_cast<T>(number)) : std::nullopt;
  };
  if (value.is_number_unsigned()) return fitting(value.template get<std::uint64_t>());
  if (value.is_number_integer()) return fitting(value.template get<std::int64_t>());
  return std::nullopt;
}

}  // namespace starling
