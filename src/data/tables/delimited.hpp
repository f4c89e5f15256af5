/// Fields of a line of delimited text.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/cells/number.hpp"
#include "data/settings.hpp"

namespace starling {

/// Fields of a line, as views of it.
using Fields = std::vector<std::string_view>;

/// The notation of numbers in a table of text.
struct NumberRules {
  bool decimal_comma = false;
  std::optional<std::chrono::sys_days> first_day;  ///< dates are days since then; none: they are no numbers
};
[[nodiscard]] NumberRules number_rules(const ReadSettings& settings);

/// The delimiter of a first line. Commas do not count where they are decimal.
[[nodiscard]] char find_delimiter(std::string_view line, bool decimal_comma);

/// The delimiter that `wanted`, a value of --delimiter, names; 0 for auto. Throws UsageError.
[[nodiscard]] char parse_delimiter(const std::string& wanted);

/// Splits a line into fields, without the blanks and quotes around them.
void split(std::string_view line, char delimiter, Fields& fields);

/// What the fields of a first line are. `may_be_text` marks columns in which a record may have texts.
enum class FirstLine {
  record,   ///< numbers
  names,    ///< texts, or texts and ascending whole numbers, such as years
  unclear,  ///< numbers and texts as no line of names has them; or 0,1,2,… as pandas names columns that have no names
};
[[nodiscard]] FirstLine first_line(const Fields& fields, const std::vector<bool>& may_be_text,
                                   const NumberRules& rules);

/// Throws RecordError for a first line that is unclear.
[[noreturn]] void throw_unclear_first_line(const std::string& where, std::string_view line);

/// The text that a field stands for: doubled quotes inside quotes are one.
[[nodiscard]] std::string text_of(std::string_view field);

/// Reads a field as a number. Beside decimal commas a point is no part of a number: 1.234 may mean a thousand.
[[nodiscard]] ParsedNumber read_field(std::string_view field, const NumberRules& rules);

}  // namespace starling
