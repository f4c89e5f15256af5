#include "files/number_pairs.hpp"

#include <algorithm>
#include <string_view>

#include "core/check.hpp"
#include "core/text/spec.hpp"
#include "files/text.hpp"

namespace starling {

namespace {

NumberPair parse_pair(std::string_view line, const std::string& where) {
  const auto comma = line.find(',');
  check(comma != std::string_view::npos, "{}: '{}' is not two numbers with a comma between them", where, line);
  const long long key = parse_integer(trimmed(line.substr(0, comma)), where);
  check(key >= 0, "{}: {} (numbers of rounds and clients count from 0)", where, key);
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
  check(!pairs.empty(), "'{}' holds no numbers (lines of two numbers, as in 0,0.5, are needed)", path);
  return pairs;
}

}  // namespace starling
