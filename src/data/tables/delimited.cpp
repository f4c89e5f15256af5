#include "delimited.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/check.hpp"
#include "core/record_error.hpp"
#include "core/text/exact_number.hpp"
#include "data/constants.hpp"
#include "files/text.hpp"

namespace starling {

namespace {

constexpr std::string_view blanks = " \t";  // around fields

/// Characters that numbers, quotes and line ends are made of cannot separate columns.
bool can_delimit(char c) {
  if (c == '\t') return true;
  const bool printable = c > ' ' && c < 127;
  const bool letter_or_digit = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  return printable && !letter_or_digit && c != '.' && c != '+' && c != '-' && c != '"';
}

/// Position of the quote that closes the one at `open`; npos if there is none. A doubled quote inside stands for one.
std::size_t closing_quote(std::string_view line, std::size_t open) {
  std::size_t at = line.find('"', open + 1);
  while (at != std::string_view::npos && at + 1 < line.size() && line[at + 1] == '"') at = line.find('"', at + 2);
  return at;
}

/// End of the field that starts at `from`: the next delimiter outside the field's quotes.
std::size_t field_end(std::string_view line, std::size_t from, char delimiter) {
  const auto start = line.find_first_not_of(' ', from);
  if (start != std::string_view::npos && line[start] == '"') {
    const auto closing = closing_quote(line, start);
    if (closing != std::string_view::npos) return std::min(line.find(delimiter, closing), line.size());
  }
  return std::min(line.find(delimiter, from), line.size());
}

std::string_view unquote(std::string_view field) {
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
    return trimmed(field.substr(1, field.size() - 2), blanks);
  return field;
}

}  // namespace

char find_delimiter(std::string_view line, bool decimal_comma) {
  constexpr std::array<char, 3> candidates{',', ';', '\t'};
  std::array<int, candidates.size()> counts{};
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    const auto* found = std::find(candidates.begin(), candidates.end(), c);
    if (decimal_comma && c == ',') continue;
    if (!quoted && found != candidates.end()) ++counts[static_cast<std::size_t>(found - candidates.begin())];
  }
  const auto* most = std::max_element(counts.begin(), counts.end());
  return *most == 0 ? ' ' : candidates[static_cast<std::size_t>(most - counts.begin())];
}

char parse_delimiter(const std::string& wanted) {
  struct Named {
    std::string_view name;
    char character;
  };
  constexpr std::array<Named, 5> named{
      {{"auto", '\0'}, {"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}, {"space", ' '}}};
  for (const Named& one : named) {
    if (wanted == one.name) return one.character;
  }
  check(wanted.size() == 1 && can_delimit(wanted[0]),
        "--delimiter '{}': must be auto, comma, semicolon, tab, space, or one character that no number holds. Give one "
        "of them.",
        excerpt(wanted));
  return wanted[0];
}

void split(std::string_view line, char delimiter, Fields& fields) {
  fields.clear();
  if (delimiter == ' ') line = trimmed(line, blanks);
  std::size_t from = 0;
  while (true) {
    const std::size_t end = field_end(line, from, delimiter);
    fields.push_back(unquote(trimmed(line.substr(from, end - from), blanks)));
    if (end == line.size()) return;
    from = end + 1;
    if (delimiter == ' ') from = line.find_first_not_of(' ', from);
  }
}

FirstLine first_line(const Fields& fields, const std::vector<bool>& may_be_text, const NumberRules& rules) {
  std::size_t texts = 0;
  std::size_t numbers = 0;
  bool are_years = true;              // as far as numbers can be names
  bool is_count = fields.size() > 1;  // 0,1,2,… or ,0,1,2,…
  double last = -1;
  for (std::size_t column = 0; column < fields.size(); ++column) {
    const std::string_view field = fields[column];
    const ParsedNumber read = read_field(field, rules);
    const std::size_t number = fields.front().empty() ? column - 1 : column;
    is_count = is_count && (field == std::to_string(number) || (column == 0 && field.empty()));
    if (read.fault == NumberFault::text && !may_be_text[column]) {
      ++texts;
      are_years = are_years && !(field.front() >= '0' && field.front() <= '9');
    }
    if (read.fault != NumberFault::none) continue;
    ++numbers;
    are_years = are_years && exact_number<std::uint64_t>(field) && read.value > last;
    last = read.value;
  }
  if (texts == 0) return is_count ? FirstLine::unclear : FirstLine::record;
  return numbers == 0 || are_years ? FirstLine::names : FirstLine::unclear;
}

void throw_unclear_first_line(const std::string& where, std::string_view line) {
  const std::string why = "a line of names and a record may both be so";
  const std::string remedy = "Say which it is with --header yes or --header no";
  throw RecordError(fmt::format("{}: the first line is unclear: {}. {}.", where, why, remedy),
                    fmt::format("{}: the first line is '{}': {}. {}.", where, excerpt(line), why, remedy));
}

std::string text_of(std::string_view field) {
  std::string text(field);
  for (std::size_t at = text.find("\"\""); at != std::string::npos; at = text.find("\"\"", at + 1)) text.erase(at, 1);
  return text;
}

NumberRules number_rules(const ReadSettings& settings) {
  return {settings.decimal == ReadSettings::Decimal::comma,
          settings.constants ? settings.constants->first_day : settings.first_day};
}

ParsedNumber read_field(std::string_view field, const NumberRules& rules) {
  if (rules.first_day) {
    if (const auto day = read_date(field)) return {static_cast<double>((*day - *rules.first_day).count())};
  }
  if (!rules.decimal_comma) return read_number(field);
  if (field.find('.') != std::string_view::npos) return {0, NumberFault::text};
  std::string text(field);
  std::replace(text.begin(), text.end(), ',', '.');
  return read_number(text);
}

}  // namespace starling
