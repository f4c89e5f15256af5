#include "number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "starling/core/check.hpp"
#include "starling/core/record_error.hpp"

namespace starling {

namespace {

bool is_missing(std::string_view text) {
  constexpr std::array<std::string_view, 8> marks{"", "?", "NA", "N/A", "na", "null", "NULL", "Null"};
  return std::find(marks.begin(), marks.end(), text) != marks.end();
}

struct Explanation {
  std::string_view fault;  // as far as others may know
  std::string_view why;
  std::string_view remedy;
};

Explanation explain(NumberFault fault) {
  switch (fault) {
    case NumberFault::missing:
      return {"missing", "a missing value; every value must be there", "fill it in or remove the row"};
    case NumberFault::not_finite:
      return {"not finite", "not finite; every value must be a finite number", "correct or remove the row"};
    case NumberFault::out_of_range:
      return {"too large", "beyond the range of double precision", "rescale the data or correct the row"};
    default:
      return {"a text", "not a number", "encode it as a number or remove it"};
  }
}

}  // namespace

ParsedNumber read_number(std::string_view text) {
  if (is_missing(text)) return {0, NumberFault::missing};
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) return {0, NumberFault::text};
  if (error == std::errc::result_out_of_range) return {0, NumberFault::out_of_range};
  if (!std::isfinite(value)) return {0, NumberFault::not_finite};
  return {value, NumberFault::none};
}

void throw_number_fault(const std::string& where, const std::string& place, std::string_view text, NumberFault fault) {
  const auto [told, why, remedy] = explain(fault);
  const std::string shown = text.empty() ? "empty" : fmt::format("'{}'", excerpt(text));
  throw RecordError(fmt::format("{}: {} is {} ({}) {}", where, place, told, why, remedy),
                    fmt::format("{}: {} is {} ({}) {}", where, place, shown, why, remedy));
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string shown(text.substr(0, longest));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; }, '?');
  return text.size() > longest ? shown + "…" : shown;
}

}  // namespace starling
