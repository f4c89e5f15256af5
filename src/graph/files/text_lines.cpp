#include "text_lines.hpp"

#include <optional>

#include "core/text/spec.hpp"
#include "files/text.hpp"

namespace starling {

namespace {

bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n');
}

}  // namespace

void split_words(std::string_view line, LineWords& words) {
  words.clear();
  for (std::size_t at = 0; at < line.size();) {
    while (at < line.size() && is_blank(line[at])) ++at;
    const std::size_t begin = at;
    while (at < line.size() && !is_blank(line[at])) ++at;
    if (at > begin) words.push_back(line.substr(begin, at - begin));
  }
}

LineWords split_words(std::string_view line) {
  LineWords words;
  split_words(line, words);
  return words;
}

std::string shown(std::string_view word) {
  constexpr std::size_t limit = 40;
  std::string text(word.substr(0, limit));
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return word.size() > limit ? text + "…" : text;
}

TextLines::TextLines(std::string_view text, const std::string& name) : rest_(text), name_(name) {
  if (rest_.starts_with(byte_order_mark)) rest_.remove_prefix(byte_order_mark.size());
}

bool TextLines::next(std::string_view& line) {
  if (rest_.empty()) return false;
  const auto end = rest_.find('\n');
  ++line_;
  line = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (const auto fault = text_fault(line)) throw UsageError(at(line_) + *fault);
  return true;
}

std::string TextLines::at(std::int64_t line) const {
  return fmt::format("{}:{}: ", name_, line);
}

long long TextLines::integer(std::string_view word, std::string_view what, long long least, long long most) const {
  std::optional<long long> value;
  try {
    value = parse_integer(word, what);
  } catch (const UsageError&) {  // reworded below, with the line and the range
  }
  require(value && *value >= least && *value <= most, "{} '{}': must be a whole number from {} to {}. Correct it.",
          what, shown(word), least, most);
  return *value;
}

double TextLines::weight(std::string_view word) const {
  std::optional<double> value;
  try {
    value = parse_number(word, "weight");
  } catch (const UsageError&) {
  }
  require(value.has_value(), "weight '{}' is not a number: write a share such as 0.25 or 1/3.", shown(word));
  return *value;
}

}  // namespace starling
