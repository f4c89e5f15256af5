#include "starling/report/view/table_text.hpp"

#include <cmath>

#include <fmt/format.h>

namespace starling {

std::string table_row(const std::string& name, const std::string& value) {
  return fmt::format("  {:<22}{}\n", name, value);
}

std::string shown(double value, const char* format) {
  return std::isfinite(value) ? fmt::vformat(format, fmt::make_format_args(value)) : "-";
}

std::string indented_line(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return "  " + text + "\n";
}

}  // namespace starling
