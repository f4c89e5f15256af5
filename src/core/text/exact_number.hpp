#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
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

/// The number that fills the whole text, as std::from_chars reads it: without blanks and without a plus sign. None for
/// other text, and for a number that T cannot hold.
template <class T>
[[nodiscard]] std::optional<T> exact_number(std::string_view text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

}  // namespace starling
