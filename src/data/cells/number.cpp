#include "number.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "core/check.hpp"
#include "core/record_error.hpp"
#include "core/text/exact_number.hpp"

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

/// The number that these digits write, of which there are four at most.
unsigned plain_number(std::string_view digits) {
  unsigned number = 0;
  for (const char digit : digits) number = 10 * number + static_cast<unsigned>(digit - '0');
  return number;
}

/// Whether a text is digits with one comma between, such as -3,14.
bool has_decimal_comma(std::string_view text) {
  std::size_t at = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  if (take_digits(text, at) == 0 || at == text.size() || text[at++] != ',') return false;
  return take_digits(text, at) > 0 && at == text.size();
}

/// The groups of three digits behind commas, as in 12,345,678; 0 of other texts.
std::size_t groups_of_thousands(std::string_view text) {
  std::size_t at = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const bool leads = at < text.size() && text[at] != '0';
  const std::size_t first = take_digits(text, at);
  std::size_t groups = 0;
  while (at < text.size() && text[at] == ',') {
    ++at;
    if (take_digits(text, at) != 3) return 0;
    ++groups;
  }
  const bool has_decimals = at < text.size() && text[at] == '.';
  if (has_decimals) {
    ++at;
    static_cast<void>(take_digits(text, at));
  }
  const bool sure = groups > 1 || has_decimals;
  return leads && first >= 1 && first <= 3 && groups > 0 && at == text.size() ? (sure ? 2 : 1) : 0;
}

struct Explanation {
  std::string_view fault;  // as far as others may know
  std::string_view why;
  std::string remedy;
};

/// The advice in a message on a date: --dates, and another form where this one is not read.
std::string remedy_of_date(std::string_view text, const Remedies& remedies) {
  std::string remedy = read_date(text) ? "" : "write it as 2024-03-01, a day of the calendar, ";
  if (remedies.dates)
    remedy += fmt::format("{}give --dates with a public day, from which days count", remedy.empty() ? "" : "and ");
  if (remedy.empty()) remedy = "write the number of days since a fixed day";
  return fmt::format("{}{}", remedy, remedies.drop ? ", or leave its column out with --drop" : "");
}

std::optional<Explanation> explain_comma(std::string_view text, const Remedies& remedies) {
  const std::string_view decimals = remedies.decimal_comma ? "give --decimal comma, or write a point" : "write a point";
  if (const std::size_t thousands = groups_of_thousands(text); thousands > 0) {
    if (thousands > 1) {
      return Explanation{"a number with commas", "commas between thousands; numbers have none",
                         "write it without them"};
    }
    return Explanation{"a number with a comma", "a comma before thousands or before decimals: either could be meant",
                       fmt::format("write thousands without a comma; of decimals, {}", decimals)};
  }
  if (!has_decimal_comma(text)) return std::nullopt;
  return Explanation{"a number with a comma", "a decimal comma; numbers have a point", std::string(decimals)};
}

std::string remedy_of_text(const Remedies& remedies) {
  if (remedies.label)
    return fmt::format("{}, or name another column by --label; a row without a label must be removed",
                       remedies.encode ? "--encode it" : "write a number");
  const std::string_view missing =
      remedies.marks ? ", or name it by --missing-values where it means a missing value" : "";
  if (remedies.encode) return fmt::format("{}{}", remedies.drop ? "--encode or --drop it" : "--encode it", missing);
  return fmt::format("{}{}", remedies.drop ? "--drop it" : "write a number", missing);
}

Explanation explain(std::string_view text, NumberFault fault, const Remedies& remedies) {
  if (fault == NumberFault::text && is_date(text)) {
    return {"a date", "a date; features are numbers", remedy_of_date(text, remedies)};
  }
  if (fault == NumberFault::text) {
    if (auto comma = explain_comma(text, remedies)) return *std::move(comma);
  }
  const std::string_view fill_in = remedies.missing ? ", or let --missing fill in features" : "";
  switch (fault) {
    case NumberFault::missing:
      return {"missing", "a missing value; every value must be there",
              fmt::format("fill it in or remove the row{}", fill_in)};
    case NumberFault::not_finite:
      return {"not finite", "not finite; every value must be a finite number",
              fmt::format("correct or remove the row{}", is_missing_feature(text) ? fill_in : "")};
    case NumberFault::out_of_range:
      return {"too large", "beyond the range of double precision", "rescale the data or correct the row"};
    default:
      return {"a text", "not a number", remedy_of_text(remedies)};
  }
}

/// Whether a number beyond double precision is too small, not too large. The text is a number.
bool is_below_range(std::string_view text) {
  const std::size_t e = std::min(text.find_first_of("eE"), text.size());
  const std::string_view digits = text.substr(0, e);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = digits.find_first_of("123456789");
  // The power of ten of the first digit is `before` plus that after the e.
  const auto before = static_cast<long long>(point) - static_cast<long long>(first);
  const std::string_view exponent = text.substr(std::min(e + 1, text.size()));
  if (exponent.starts_with('-')) {
    const auto below = exact_number<long long>(exponent.substr(1));
    return !below || *below > before;
  }
  return e == text.size() && before < 0;
}

}  // namespace

ParsedNumber read_number(std::string_view text) {
  if (is_missing_mark(text)) return {0, NumberFault::missing};
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) return {0, NumberFault::text};
  if (error == std::errc::result_out_of_range) {
    return {0, is_below_range(text) ? NumberFault::none : NumberFault::out_of_range};
  }
  if (!std::isfinite(value)) return {value, NumberFault::not_finite};
  return {value, NumberFault::none};
}

std::optional<std::chrono::sys_days> read_date(std::string_view text) {
  if (!is_date(text)) return std::nullopt;
  const std::size_t first = text.find_first_of("-./");
  const std::size_t second = text.find(text[first], first + 1);
  const std::string_view last = text.substr(second + 1, text.find_first_of(" T", second) - second - 1);
  const unsigned a = plain_number(text.substr(0, first));
  const unsigned b = plain_number(text.substr(first + 1, second - first - 1));
  const unsigned c = plain_number(last);
  const bool year_first = text[first] == '-' && first == 4;
  const bool day_first = text[first] == '.' && last.size() == 4;
  if (!year_first && !day_first) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year_first ? a : c)), std::chrono::month(b),
                                         std::chrono::day(year_first ? c : a)};
  return date.ok() ? std::optional(std::chrono::sys_days(date)) : std::nullopt;
}

bool is_missing_feature(std::string_view text) {
  const ParsedNumber number = read_number(text);
  return number.fault == NumberFault::missing || (number.fault == NumberFault::not_finite && std::isnan(number.value));
}

MissingMarks::MissingMarks(const std::vector<std::string>& others) {
  for (const std::string& other : others) {
    const ParsedNumber number = read_number(other);
    if (number.fault == NumberFault::none) numbers_.push_back(number.value);
    if (number.fault != NumberFault::none) texts_.push_back(other);
  }
}

bool MissingMarks::is_other(std::string_view text) const {
  if (std::ranges::find(texts_, text) != texts_.end()) return true;
  if (numbers_.empty()) return false;
  const ParsedNumber number = read_number(text);
  return number.fault == NumberFault::none && std::ranges::find(numbers_, number.value) != numbers_.end();
}

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

void throw_number_fault(const std::string& where, const std::string& place, std::string_view text, NumberFault fault,
                        const Remedies& remedies, std::string_view told_place, std::string_view end) {
  auto [told, why, remedy] = explain(text, fault, remedies);
  remedy[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(remedy[0])));
  const std::string shown = text.empty() ? "empty" : fmt::format("'{}'", excerpt(text));
  if (told_place.empty()) told_place = place;
  const std::size_t rule = why.find("; ");  // the value's kind stands before it, which `told` has said
  const std::string_view told_why = std::string_view(why).substr(rule == std::string::npos ? 0 : rule + 2);
  throw RecordError(fmt::format("{}: {} is {}: {}. {}{}.", where, told_place, told, told_why, remedy, end),
                    fmt::format("{}: {} is {}: {}. {}{}.", where, place, shown, why, remedy, end));
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string shown(text.substr(0, longest));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; }, '?');
  return text.size() > longest ? shown + "…" : shown;
}

}  // namespace starling
