/// Tables of text in the formats of other programs, and some lines of a run's history as one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "output/directory/history.hpp"

namespace starling {

using Cells = std::vector<std::string>;

enum class TableFormat { text, csv, markdown, latex };

/// A heading, and rows with as many cells.
struct TextTable {
  Cells head;
  std::vector<Cells> rows;
  std::string caption = {};  ///< in LaTeX a comment above the table
  std::size_t names = 0;     ///< columns of names on the left; in LaTeX the others are aligned on the right
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

/// Number of lines that a report shows of a history.
constexpr std::size_t most_curve_lines = 12;

/// About `most` lines of a history, evenly spread, with the known figures. Rounds with scores on --test are preferred.
/// No head for an empty history.
[[nodiscard]] TextTable curve_of(const std::vector<NetworkFigures>& history, std::size_t most = most_curve_lines);

/// The same as text in columns; empty for an empty history.
[[nodiscard]] std::string curve_table(const std::vector<NetworkFigures>& history, std::size_t most = most_curve_lines);

/// The latest value that is known; NaN if none is.
[[nodiscard]] double latest(const std::vector<NetworkFigures>& history, double NetworkFigures::*figure);

}  // namespace starling
