#include "line_reader.hpp"
#include "number.hpp"
#include "readers.hpp"
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "starling/core/check.hpp"

namespace starling {

namespace {

using Fields = std::vector<std::string_view>;

std::string_view trim(std::string_view text) {
  const auto from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

char find_delimiter(std::string_view line) {
  constexpr std::array<char, 3> candidates{',', ';', '\t'};
  std::array<int, candidates.size()> counts{};
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    const auto* found = std::find(candidates.begin(), candidates.end(), c);
    if (!quoted && found != candidates.end()) ++counts[static_cast<std::size_t>(found - candidates.begin())];
  }
  const auto* most = std::max_element(counts.begin(), counts.end());
  return *most == 0 ? ' ' : candidates[static_cast<std::size_t>(most - counts.begin())];
}

/// Where the field that starts at `from` ends: at the next delimiter that is not inside its quotes.
std::size_t field_end(std::string_view line, std::size_t from, char delimiter) {
  const auto start = line.find_first_not_of(' ', from);
  if (start != std::string_view::npos && line[start] == '"') {
    const auto closing = line.find('"', start + 1);
    if (closing != std::string_view::npos) return std::min(line.find(delimiter, closing), line.size());
  }
  return std::min(line.find(delimiter, from), line.size());
}

std::string_view unquote(std::string_view field) {
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"') return trim(field.substr(1, field.size() - 2));
  return field;
}

void split(std::string_view line, char delimiter, Fields& fields) {
  fields.clear();
  if (delimiter == ' ') line = trim(line);
  std::size_t from = 0;
  while (true) {
    const std::size_t end = field_end(line, from, delimiter);
    fields.push_back(unquote(trim(line.substr(from, end - from))));
    if (end == line.size()) return;
    from = end + 1;
    if (delimiter == ' ') from = line.find_first_not_of(' ', from);
  }
}

bool same_but_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

class CsvReader final : public RecordReader {
 public:
  CsvReader(const std::string& path, const ReadSettings& settings) : lines_(path) {
    std::string_view line;
    if (!next_line(line)) return;
    delimiter_ = find_delimiter(line);
    split(line, delimiter_, fields_);
    columns_ = fields_.size();
    if (is_header())
      names_.assign(fields_.begin(), fields_.end());
    else
      pending_ = true;
    check<DataError>(columns_ > 1,
                     "{}: one column (a record needs a label and at least one feature) "
                     "separate the columns by comma, semicolon, tab or space",
                     where());
    label_ = find_label(settings.label);
    check_dimension(settings);
  }

  bool next(Record& record) override {
    if (!std::exchange(pending_, false)) {
      std::string_view line;
      if (!next_line(line)) return false;
      split(line, delimiter_, fields_);
      if (fields_.size() != columns_) throw_ragged();
    }
    record.sparse = false;
    record.index.clear();
    record.values.clear();
    for (std::size_t column = 0; column < columns_; ++column) {
      if (column == label_)
        record.label = number(column);
      else
        record.values.push_back(number(column));
    }
    return true;
  }

  [[nodiscard]] std::size_t features() const override { return columns_ == 0 ? 0 : columns_ - 1; }
  [[nodiscard]] std::string where() const override { return lines_.where(); }
  [[nodiscard]] Mark mark() const override { return pending_ ? start_ : lines_.mark(); }
  void seek(const Mark& mark) override {
    pending_ = false;
    lines_.seek(mark);
  }

 private:
  /// Skips blank lines. One of tabs alone is not blank: it is a row whose values are all missing.
  bool next_line(std::string_view& line) {
    while (true) {
      if (columns_ == 0) start_ = lines_.mark();
      if (!lines_.next(line)) return false;
      if (line.find_first_not_of(' ') != std::string_view::npos) return true;
    }
  }

  [[nodiscard]] bool is_header() const {
    return std::any_of(fields_.begin(), fields_.end(),
                       [](std::string_view field) { return read_number(field).fault == NumberFault::text; });
  }

  [[nodiscard]] double number(std::size_t column) const {
    const ParsedNumber parsed = read_number(fields_[column]);
    if (parsed.fault != NumberFault::none) {
      throw_number_fault(where(), column_name(column), fields_[column], parsed.fault);
    }
    return parsed.value;
  }

  [[noreturn]] void throw_ragged() const {
    throw DataError(fmt::format("{}: {} fields ({} expected, as in the first row) complete the row or remove it",
                                where(), fields_.size(), columns_));
  }

  [[nodiscard]] std::string column_name(std::size_t column) const {
    if (names_.empty() || names_[column].empty()) return fmt::format("column {} (from 0)", column);
    return fmt::format("column '{}'", excerpt(names_[column]));
  }

  [[nodiscard]] std::size_t find_label(const std::string& wanted) const {
    if (!wanted.empty()) return find_wanted(wanted);
    for (std::size_t column = 0; column < names_.size(); ++column) {
      if (same_but_case(names_[column], "y") || same_but_case(names_[column], "label")) return column;
    }
    return columns_ - 1;
  }

  [[nodiscard]] std::size_t find_wanted(const std::string& wanted) const {
    const auto named = std::find(names_.begin(), names_.end(), wanted);
    if (named != names_.end()) {
      check(std::find(named + 1, names_.end(), wanted) == names_.end(),
            "{}: two columns are called '{}' (the label must be one column) give --label its number, from 0",
            lines_.path(), wanted);
      return static_cast<std::size_t>(named - names_.begin());
    }
    std::size_t column = 0;
    const char* end = wanted.data() + wanted.size();
    const auto [stop, error] = std::from_chars(wanted.data(), end, column);
    check(error == std::errc() && stop == end && column < columns_, "{}: no column '{}' ({}) give --label one of them",
          lines_.path(), wanted, column_list());
    return column;
  }

  [[nodiscard]] std::string column_list() const {
    if (names_.empty()) return fmt::format("there is no header, and the columns are 0 to {}", columns_ - 1);
    std::string list;
    for (const std::string& name : names_) list += (list.empty() ? "" : ", ") + excerpt(name);
    return fmt::format("the columns are {}; they may also be numbered, 0 to {}", list, columns_ - 1);
  }

  void check_dimension(const ReadSettings& settings) const {
    check(!settings.dimension || *settings.dimension == features(),
          "{}: {} features (--dimension says {}; the columns of a CSV file settle it) leave --dimension out",
          lines_.path(), features(), settings.dimension.value_or(0));
  }

  LineReader lines_;
  Fields fields_;                   // of the current line, inside the buffer of lines_
  std::vector<std::string> names_;  // empty without a header
  std::size_t columns_ = 0;
  std::size_t label_ = 0;
  char delimiter_ = ',';
  Mark start_;            // of the first line that is not blank
  bool pending_ = false;  // the first line is a record and waits in fields_
};

}  // namespace

std::unique_ptr<RecordReader> open_csv(const std::string& path, const ReadSettings& settings) {
  return std::make_unique<CsvReader>(path, settings);
}

}  // namespace starling
