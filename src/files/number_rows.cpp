#include "starling/files/number_rows.hpp"

#include <cmath>

#include "starling/core/check.hpp"
#include "starling/core/spec.hpp"
#include "starling/files/text.hpp"

namespace starling {

namespace {

std::vector<double> parse_row(const std::string& line, const std::string& where) {
  std::vector<double> row;
  std::size_t from = 0;
  while (true) {
    const auto comma = line.find(',', from);
    std::string field = line.substr(from, comma == std::string::npos ? std::string::npos : comma - from);
    const auto begin = field.find_first_not_of(" \t\r");
    const auto end = field.find_last_not_of(" \t\r");
    field = begin == std::string::npos ? "" : field.substr(begin, end - begin + 1);
    row.push_back(parse_number(field, where));
    check(std::isfinite(row.back()), "{}: '{}' is not finite", where, field);
    if (comma == std::string::npos) return row;
    from = comma + 1;
  }
}

}  // namespace

std::vector<std::vector<double>> read_number_rows(const std::string& path, const std::string& purpose) {
  std::vector<std::vector<double>> rows;
  int number = 0;
  for (const std::string& line : read_lines(path, purpose)) {
    ++number;
    if (line.find_first_not_of(" \t") == std::string::npos || line.front() == '#') continue;
    rows.push_back(parse_row(line, fmt::format("{}:{}", path, number)));
    check(rows.back().size() == rows.front().size(), "{}:{}: {} numbers where the first row has {}", path, number,
          rows.back().size(), rows.front().size());
  }
  return rows;
}

}  // namespace starling
