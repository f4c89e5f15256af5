#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace starling {

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
