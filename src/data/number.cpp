#include "number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "starling/core/check.hpp"
#include "starling/core/record_error.hpp"

namespace starling {

namespace {

bool is_missing_mark(std::string_view text) {
  constexpr std::array<std::string_view, 8> marks{"", "?", "NA", "N/A", "na", "null", "NULL", "Null"};
  return std::find(marks.begin(), marks.end(), text) != marks.end();
}

/// The number of digits at `at`, which moves beyond them.
std::size_t take_digits(std::string_view text, std::size_t& at) {
  const std::size_t from = at;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
  return at - from;
}

/// Whether a text is a date such as 2024-03-01, 1.3.2024 or 3/1/24, with or without a time after it.
bool is_date(std::string_view text) {
  std::size_t at = 0;
  const std::size_t first = take_digits(text, at);
  if (first == 0 || first > 4 || at == text.size()) return false;
  const char separator = text[at++];
  if (separator != '-' && separator != '/' && separator != '.') return false;
  const std::size_t second = take_digits(text, at);
  if (second == 0 || second > 2 || at == text.size() || text[at++] != separator) return false;
  const std::size_t third = take_digits(text, at);
  return third > 0 && third <= 4 && (at == text.size() || text[at] == ' ' || text[at] == 'T');
}

/// Whether a text is digits with one comma between, such as -3,14.
bool has_decimal_comma(std::string_view text) {
  std::size_t at = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  if (take_digits(text, at) == 0 || at == text.size() || text[at++] != ',') return false;
  return take_digits(text, at) > 0 && at == text.size();
}

struct Explanation {
  std::string_view fault;  // as far as others may know
  std::string_view why;
  std::string_view remedy;
};

Explanation explain(std::string_view text, NumberFault fault) {
  if (fault == NumberFault::text && is_date(text)) {
    return {"a date", "a date; features are numbers",
            "convert it to a number, such as days since a fixed day, or leave its column out with --drop"};
  }
  if (fault == NumberFault::text && has_decimal_comma(text)) {
    return {"a number with a comma", "a decimal comma; numbers have a point",
            "give --decimal comma if the delimiter is no comma, or write points"};
  }
  switch (fault) {
    case NumberFault::missing:
      return {"missing", "a missing value; every value must be there",
              "fill it in or remove the row, or let --missing fill in features"};
    case NumberFault::not_finite:
      return {"not finite", "not finite; every value must be a finite number",
              is_missing_feature(text) ? "correct or remove the row, or let --missing fill in features"
                                       : "correct or remove the row"};
    case NumberFault::out_of_range:
      return {"too large", "beyond the range of double precision", "rescale the data or correct the row"};
    default:
      return {"a text", "not a number", "--encode or --drop it"};
  }
}

}  // namespace

ParsedNumber read_number(std::string_view text) {
  if (is_missing_mark(text)) return {0, NumberFault::missing};
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) return {0, NumberFault::text};
  if (error == std::errc::result_out_of_range) return {0, NumberFault::out_of_range};
  if (!std::isfinite(value)) return {value, NumberFault::not_finite};
  return {value, NumberFault::none};
}

bool is_missing_feature(std::string_view text) {
  const ParsedNumber number = read_number(text);
  return number.fault == NumberFault::missing || (number.fault == NumberFault::not_finite && std::isnan(number.value));
}

void throw_number_fault(const std::string& where, const std::string& place, std::string_view text, NumberFault fault,
                        std::string_view told_place, std::string_view end) {
  const auto [told, why, remedy] = explain(text, fault);
  const std::string shown = text.empty() ? "empty" : fmt::format("'{}'", excerpt(text));
  if (told_place.empty()) told_place = place;
  throw RecordError(fmt::format("{}: {} is {} ({}) {}{}", where, told_place, told, why, remedy, end),
                    fmt::format("{}: {} is {} ({}) {}{}", where, place, shown, why, remedy, end));
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string shown(text.substr(0, longest));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; }, '?');
  return text.size() > longest ? shown + "…" : shown;
}

}  // namespace starling
