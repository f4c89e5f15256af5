#include "files/number_rows.hpp"

#include <cmath>

#include "core/check.hpp"
#include "core/text/spec.hpp"
#include "files/text.hpp"

namespace starling {

std::vector<double> parse_number_row(std::string_view line, const std::string& where) {
  std::vector<double> row;
  for (const std::string_view part : split_at(line, ",")) {
    const std::string_view field = trimmed(part, " \t\r");
    row.push_back(parse_number(field, where));
    check(std::isfinite(row.back()), "{}: '{}' is not finite. Give finite numbers.", where, field);
  }
  return row;
}

std::vector<std::vector<double>> read_number_rows(const std::string& path, const std::string& purpose) {
  std::vector<std::vector<double>> rows;
  int number = 0;
  for (const std::string& line : read_lines(path, purpose)) {
    ++number;
    if (line.find_first_not_of(" \t") == std::string::npos || line.front() == '#') continue;
    rows.push_back(parse_number_row(line, fmt::format("{}:{}", path, number)));
    check(rows.back().size() == rows.front().size(), "{}:{}: {} numbers where the first row has {}", path, number,
          rows.back().size(), rows.front().size());
  }
  return rows;
}

}  // namespace starling
