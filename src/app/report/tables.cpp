#include "tables.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "files/text_files.hpp"

namespace starling {

namespace {

Cells escaped(const Cells& cells, const std::string& special, const std::string& before) {
  Cells result;
  for (const std::string& cell : cells) {
    std::string text;
    for (const char c : cell) text += special.find(c) == std::string::npos ? std::string(1, c) : before + c;
    result.push_back(std::move(text));
  }
  return result;
}

std::string text_of(const TextTable& table) {
  std::vector<Cells> rows = table.rows;
  rows.insert(rows.begin(), table.head);
  std::string text;
  append_rows(text, rows, widths_of(rows));
  return text;
}

std::string csv_of(const TextTable& table) {
  std::string text;
  std::vector<Cells> rows = table.rows;
  rows.insert(rows.begin(), table.head);
  for (Cells& row : rows) {
    for (std::string& cell : row) cell = csv_text(cell);
    text += fmt::format("{}\n", fmt::join(row, ","));
  }
  return text;
}

std::string markdown_of(const TextTable& table) {
  const auto line = [](const Cells& cells) {
    return fmt::format("| {} |\n", fmt::join(escaped(cells, "|", "\\"), " | "));
  };
  std::string text = line(table.head) + line(Cells(table.head.size(), "---"));
  for (const Cells& row : table.rows) text += line(row);
  return text;
}

std::string latex_cell(std::string text) {
  replace_all(text, "\\", "/");
  text = escaped({text}, "&%$#_{}", "\\").front();
  replace_all(text, "~", "\\textasciitilde{}");
  replace_all(text, "^", "\\textasciicircum{}");
  replace_all(text, "±", "$\\pm$");
  replace_all(text, "<", "$<$");
  replace_all(text, ">", "$>$");
  return text;
}

std::string latex_of(const TextTable& table) {
  const auto line = [](Cells cells) {
    for (std::string& cell : cells) cell = latex_cell(cell);
    return fmt::format("{} \\\\\n", fmt::join(cells, " & "));
  };
  const std::string columns = std::string(table.names, 'l') + std::string(table.head.size() - table.names, 'r');
  std::string text = table.caption.empty() ? "" : fmt::format("% {}\n", table.caption);
  text += fmt::format("\\begin{{tabular}}{{{}}}\n\\hline\n{}\\hline\n", columns, line(table.head));
  for (const Cells& row : table.rows) text += line(row);
  return text + "\\hline\n\\end{tabular}\n";
}

}  // namespace

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::vector<std::size_t> widths_of(const std::vector<Cells>& rows) {
  std::vector<std::size_t> widths;
  for (const Cells& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], width_of(row[k]));
  }
  return widths;
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
}

void append_rows(std::string& text, const std::vector<Cells>& rows, const std::vector<std::size_t>& widths) {
  for (const Cells& row : rows) {
    for (std::size_t k = 0; k < row.size(); ++k) {
      text += "  " + row[k] + std::string(widths[k] - std::min(widths[k], width_of(row[k])), ' ');
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
}

std::string formatted(const TextTable& table, TableFormat format) {
  switch (format) {
    case TableFormat::text:
      return text_of(table);
    case TableFormat::csv:
      return csv_of(table);
    case TableFormat::markdown:
      return markdown_of(table);
    case TableFormat::latex:
      break;
  }
  return latex_of(table);
}

namespace {

struct Column {
  const char* name;
  double NetworkFigures::*figure;
  const char* format;
  double factor;
};

constexpr std::array<Column, 6> columns{{{"loss", &NetworkFigures::loss, "{:.6f}", 1},
                                         {"accuracy", &NetworkFigures::accuracy, "{:.2f} %", 100},
                                         {"test loss", &NetworkFigures::test_loss, "{:.6f}", 1},
                                         {"test accuracy", &NetworkFigures::test_accuracy, "{:.2f} %", 100},
                                         {"consensus error", &NetworkFigures::consensus_error, "{:.3e}", 1},
                                         {"mass", &NetworkFigures::mass, "{:.10g}", 1}}};

std::vector<NetworkFigures> picked(const std::vector<NetworkFigures>& lines, std::size_t most) {
  if (lines.size() <= most) return lines;
  std::vector<NetworkFigures> result;
  for (std::size_t i = 0; i < most; ++i) result.push_back(lines[i * (lines.size() - 1) / (most - 1)]);
  return result;
}

/// The lines with test scores, and the last one; all if there are no such lines.
std::vector<NetworkFigures> preferred(const std::vector<NetworkFigures>& lines) {
  std::vector<NetworkFigures> result;
  for (const NetworkFigures& line : lines) {
    if (!std::isnan(line.test_loss)) result.push_back(line);
  }
  if (result.empty()) return lines;
  if (result.back().done != lines.back().done) result.push_back(lines.back());
  return result;
}

}  // namespace

double latest(const std::vector<NetworkFigures>& history, double NetworkFigures::*figure) {
  const auto known = std::find_if(history.rbegin(), history.rend(),
                                  [figure](const NetworkFigures& line) { return !std::isnan(line.*figure); });
  return known == history.rend() ? NetworkFigures::unknown : (*known).*figure;
}

TextTable curve_of(const std::vector<NetworkFigures>& history, std::size_t most) {
  if (history.empty()) return {};
  TextTable table{{"round"}, {}};
  std::vector<Column> known;
  for (const Column& column : columns) {
    if (std::isnan(latest(history, column.figure))) continue;
    known.push_back(column);
    table.head.emplace_back(column.name);
  }
  for (const NetworkFigures& line : picked(preferred(one_line_each(history)), most)) {
    Cells row{fmt::format("{}", line.done)};
    for (const Column& column : known) {
      const double value = column.factor * (line.*column.figure);
      row.push_back(std::isnan(value) ? "" : fmt::vformat(column.format, fmt::make_format_args(value)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string curve_table(const std::vector<NetworkFigures>& history, std::size_t most) {
  const TextTable table = curve_of(history, most);
  if (table.head.size() < 2) return "";  // rounds alone say nothing
  std::string text;
  const auto append = [&](const Cells& cells) {
    for (std::size_t k = 0; k < cells.size(); ++k) text += fmt::format("  {:>{}}", cells[k], k == 0 ? 10 : 15);
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  };
  append(table.head);
  for (const Cells& row : table.rows) append(row);
  return text;
}

}  // namespace starling
