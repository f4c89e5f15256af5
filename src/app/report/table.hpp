/// Tables of text in the formats of other programs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace starling {

using Cells = std::vector<std::string>;

enum class TableFormat { text, csv, markdown, latex };

/// A heading, and rows with as many cells.
struct TextTable {
  Cells head;
  std::vector<Cells> rows;
};

/// The table as text: aligned columns, CSV, a table of Markdown, or a tabular of LaTeX.
[[nodiscard]] std::string formatted(const TextTable& table, TableFormat format);

/// Rows with two blanks before each cell, in columns of these widths.
void append_rows(std::string& text, const std::vector<Cells>& rows, const std::vector<std::size_t>& widths);
/// The widths of the columns of all rows.
[[nodiscard]] std::vector<std::size_t> widths_of(const std::vector<Cells>& rows);
/// Puts `by` in every place of `what`.
void replace_all(std::string& text, const std::string& what, const std::string& by);
/// The number of characters of a text in UTF-8.
[[nodiscard]] std::size_t width_of(const std::string& text);

}  // namespace starling
