/// Text of tables.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace starling {

/// One row: a name and a value.
[[nodiscard]] std::string table_row(const std::string& name, const std::string& value);
/// The names and values of rows that `table_row` wrote. A row that continues the one before has no name.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> rows_in(const std::string& text);
/// A line indented by two blanks, without blanks at its end.
[[nodiscard]] std::string indented_line(std::string text);
/// The value in a format of fmt; "-" for a value that is not finite.
[[nodiscard]] std::string shown(double value, const char* format);

/// Rows under one name, at most `most` of them; the last row counts the others: "... 3 more constraints, in …".
template <class Items, class RowOf>
std::string listed_rows(const std::string& name, const Items& items, std::size_t most, const std::string& others,
                        RowOf row_of) {
  std::string text;
  for (std::size_t j = 0; j < items.size() && j < most; ++j) text += table_row(j == 0 ? name : "", row_of(items[j]));
  if (items.size() > most) text += table_row("", "... " + std::to_string(items.size() - most) + " more" + others);
  return text;
}

}  // namespace starling
