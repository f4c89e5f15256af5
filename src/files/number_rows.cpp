#include "files/number_rows.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "core/text/spec.hpp"
#include "files/text.hpp"

namespace starling {

namespace {

NumberPair parse_pair(std::string_view line, const std::string& where) {
  const auto comma = line.find(',');
  check(comma != std::string_view::npos,
        "{}: '{}' is not two numbers with a comma between them. Write them as in 0,0.5.", where, line);
  const long long key = parse_integer(trimmed(line.substr(0, comma)), where);
  check(key >= 0, "{}: {}: numbers of rounds and clients count from 0. Correct it.", where, key);
  return {key, parse_number(trimmed(line.substr(comma + 1)), where), 0};
}

/// A first line such as "round,value".
bool names_columns(std::string_view line) {
  return std::none_of(line.begin(), line.end(),
                      [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
}

}  // namespace

std::vector<NumberPair> read_number_pairs(const std::string& path) {
  std::vector<NumberPair> pairs;
  bool first = true;
  std::size_t number = 0;
  for (const std::string& text : read_lines(path, fmt::format("'{}'", path))) {
    ++number;
    const std::string_view line = trimmed(text);
    if (line.empty() || line.front() == '#') continue;
    if (!(first && names_columns(line))) {
      pairs.push_back(parse_pair(line, fmt::format("{}:{}", path, number)));
      pairs.back().line = number;
    }
    first = false;
  }
  check(!pairs.empty(), "'{}' holds no numbers. Write lines of two numbers, as in 0,0.5.", path);
  return pairs;
}

void require_in_range(double value, std::string_view where, double least, double most) {
  check(value >= least && value <= most, "{}: {} is out of range: {} to {}. Correct it.", where, value, least, most);
}

Client client_of(double number, Client clients, const std::string& where) {
  check(number >= 0 && number < clients && number == std::floor(number),
        "{}: client {}: clients have the numbers 0 to {}. Take one of them.", where, number, clients - 1);
  return static_cast<Client>(number);
}

std::vector<double> read_values_of_clients(const std::string& path, Client clients,
                                           const std::function<void(double, const std::string&)>& check_value) {
  std::vector<double> values(static_cast<std::size_t>(clients), std::nan(""));
  for (const NumberPair& pair : read_number_pairs(path)) {
    const std::string where = fmt::format("{}:{}", path, pair.line);
    const Client u = client_of(static_cast<double>(pair.key), clients, where);
    double& value = values[static_cast<std::size_t>(u)];
    check(std::isnan(value), "{}: client {} is named twice. Delete one of its lines.", where, u);
    check_value(pair.value, where);
    value = pair.value;
  }
  const auto missing = std::ranges::find_if(values, [](double value) { return std::isnan(value); });
  check(missing == values.end(), "'{}' does not name client {}: each client needs a line. Add it.", path,
        missing - values.begin());
  return values;
}

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
    check(rows.back().size() == rows.front().size(),
          "{}:{}: {} numbers where the first row has {}. Give each row as many.", path, number, rows.back().size(),
          rows.front().size());
  }
  return rows;
}

}  // namespace starling
