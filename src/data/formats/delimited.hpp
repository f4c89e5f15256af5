/// Fields of a line of delimited text.
#pragma once

#include "data/number.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace starling {

/// Fields of a line, as views of it.
using Fields = std::vector<std::string_view>;

/// The delimiter of a first line. Commas do not count where they are decimal.
[[nodiscard]] char find_delimiter(std::string_view line, bool decimal_comma);

/// The delimiter that `wanted`, a value of --delimiter, names; 0 for auto. Throws UsageError.
[[nodiscard]] char parse_delimiter(const std::string& wanted);

/// Splits a line into fields, without the blanks and quotes around them.
void split(std::string_view line, char delimiter, Fields& fields);

/// The text that a field stands for: doubled quotes inside quotes are one.
[[nodiscard]] std::string text_of(std::string_view field);

/// Reads a field as a number. Beside decimal commas a point is no part of a number: 1.234 may mean a thousand.
[[nodiscard]] ParsedNumber read_field(std::string_view field, bool decimal_comma);

}  // namespace starling
