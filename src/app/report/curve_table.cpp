#include "curve_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace starling {

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
  if (table.head.empty()) return "";
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
