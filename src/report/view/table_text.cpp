#include "report/view/table_text.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

namespace starling {

namespace {

constexpr std::size_t indentation = 2;
constexpr std::size_t name_width = 22;

}  // namespace

std::string table_row(const std::string& name, const std::string& value) {
  return fmt::format("{:{}}{:<{}}{}\n", "", indentation, name, name_width, value);
}

std::vector<std::pair<std::string, std::string>> rows_in(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.resize(std::max(line.size(), indentation + name_width), ' ');
    std::string name = line.substr(indentation, name_width);
    name.erase(name.find_last_not_of(' ') + 1);
    rows.emplace_back(std::move(name), line.substr(indentation + name_width));
  }
  return rows;
}

std::string shown(double value, const char* format) {
  return std::isfinite(value) ? fmt::vformat(format, fmt::make_format_args(value)) : "-";
}

std::string indented_line(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return "  " + text + "\n";
}

}  // namespace starling
