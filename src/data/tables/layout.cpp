#include "layout.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/ranges.h>

#include "core/check.hpp"
#include "core/record_error.hpp"
#include "data/cells/number.hpp"
#include "data/formats/pipe.hpp"
#include "files/foreign_text.hpp"
#include "files/text.hpp"

namespace starling {

namespace {

constexpr std::size_t most_rows = 50;  ///< that are looked at

/// A first line of the file that is not blank, with its number from 1.
struct HeadLine {
  std::string_view text;
  std::int64_t row;
};

Fields fields_of(std::string_view line, char delimiter) {
  Fields fields;
  split(line, delimiter, fields);
  return fields;
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(' ') == std::string_view::npos;
}

bool is_open(std::string_view field) {
  return field.starts_with('"') && (field.size() == 1 || !field.ends_with('"'));
}

/// The delimiter that a line such as `sep=;` names.
std::optional<char> announced_delimiter(std::string_view line) {
  if (line.size() >= 2 && line.starts_with('"') && line.ends_with('"')) line = line.substr(1, line.size() - 2);
  const bool announces = line.starts_with("sep=") || line.starts_with("SEP=") || line.starts_with("Sep=");
  return announces && line.size() == 5 ? std::optional(line[4]) : std::nullopt;
}

/// The names of columns that stand in a comment, which begins with #.
std::string_view without_mark(std::string_view comment) {
  const std::size_t begin = comment.find_first_not_of("# ");
  // `#,a,b`: the mark is a name itself.
  return begin == std::string_view::npos || comment[begin] == ',' || comment[begin] == ';' || comment[begin] == '\t'
             ? comment
             : comment.substr(begin);
}

/// A delimiter as a message and a shell show it.
std::string shown_delimiter(char delimiter) {
  return delimiter == '\t' ? "a tab" : delimiter == ' ' ? "a space" : fmt::format("'{}'", delimiter);
}

/// A delimiter in a regular expression of sed.
std::string in_expression(char delimiter) {
  constexpr std::string_view special = R"(.[]*^$\/)";
  if (delimiter == '\t') return "\\t";
  return special.find(delimiter) == std::string_view::npos ? std::string(1, delimiter) : fmt::format("\\{}", delimiter);
}

class HeadReader {
 public:
  HeadReader(LineReader& lines, const ReadSettings& settings)
      : lines_(lines), settings_(settings), rules_(number_rules(settings)) {
    head_.delimiter = parse_delimiter(settings.delimiter);
    head_.columns.path = lines.path();
  }

  TableHead read(const IsHeader& is_header) {
    skip_what_stands_above();
    if (rows_.empty()) return std::move(head_);
    const char* const begin = rows_.front().text.data();
    const std::string_view last = rows_.back().text;
    refuse_foreign_records({begin, static_cast<std::size_t>(last.data() + last.size() - begin)}, lines_.path());
    choose_delimiter();
    const bool of_model = settings_.constants && settings_.constants->decimal_auto;
    const bool as_written = settings_.decimal == ReadSettings::Decimal::automatic ||
                            (of_model && settings_.decimal == ReadSettings::Decimal::point);
    if (as_written) rules_.decimal_comma = has_decimal_commas();
    head_.rules = rules_;
    refuse_decimal_commas();
    read_names(is_header);
    refuse_other_layouts();
    return std::move(head_);
  }

 private:
  // Lines above the table.

  void see_rows() {
    rows_.clear();
    std::int64_t row = lines_.mark().row;
    for (const std::string_view line : lines_.peek()) {
      ++row;
      if (!is_blank(line)) rows_.push_back({line, row});
      if (rows_.size() == most_rows) return;
    }
  }

  void skip_line() {
    std::string_view line;
    static_cast<void>(lines_.next(line));
  }

  void skip_what_stands_above() {
    for (bool first = true;; first = false) {
      const std::vector<std::string_view> lines = lines_.peek();
      if (lines.empty()) break;
      if (is_blank(lines.front()) || text_fault(lines.front())) {  // which next() throws
        skip_line();
        continue;
      }
      if (first && take_announcement(lines.front())) continue;
      if (!lines.front().starts_with('#') || is_name_of_all(lines)) break;
      comment_ = lines.front();
      comment_row_ = lines_.mark().row + 1;
      if (first_comment_ == 0) first_comment_ = comment_row_;
      skip_line();
    }
    see_rows();
  }

  bool take_announcement(std::string_view line) {
    const auto announced = announced_delimiter(line);
    if (!announced) return false;
    if (head_.delimiter == '\0') {
      head_.delimiter = parse_delimiter(std::string(1, *announced));
      head_.notes.push_back(
          fmt::format("the first line says that {} stands between the columns", shown_delimiter(*announced)));
    }
    skip_line();
    return true;
  }

  /// Lines that all begin with # are records, whose first field does.
  static bool is_name_of_all(const std::vector<std::string_view>& lines) {
    return lines.size() > 1 &&
           std::ranges::all_of(lines, [](std::string_view line) { return is_blank(line) || line.starts_with('#'); });
  }

  // Delimiters.

  /// The number of fields that a delimiter gives all lines from `first` on; none where they have different numbers, and
  /// where that is one.
  [[nodiscard]] std::optional<std::size_t> width(char delimiter, std::size_t first) const {
    std::optional<std::size_t> width;
    for (std::size_t i = first; i < rows_.size(); ++i) {
      const std::size_t count = fields_of(rows_[i].text, delimiter).size();
      if (count == 1 || count != width.value_or(count)) return std::nullopt;
      width = count;
    }
    return width;
  }

  /// How well a delimiter fits: all lines, or all but the first, have as many fields.
  [[nodiscard]] int fit(char delimiter) const { return width(delimiter, 0) ? 2 : width(delimiter, 1) ? 1 : 0; }

  void choose_delimiter() {
    if (head_.delimiter != '\0') return;
    head_.delimiter = find_delimiter(rows_.front().text, rules_.decimal_comma);
    if (rows_.size() < 2) return;
    int best = fit(head_.delimiter);
    const int least = is_alone_in_first_line() ? 1 : 2;
    for (const char other : {',', ';', '\t', ' '}) {
      if (best == 2 || (other == ',' && rules_.decimal_comma)) continue;
      const int found = fit(other);
      if (found > best && found >= least) {
        head_.delimiter = other;
        best = found;
      }
    }
    if (best == 0 && rules_.decimal_comma && fit(',') == 2) {
      head_.delimiter = ',';
      rules_.decimal_comma = false;
      head_.notes.emplace_back("commas stand between its columns, so that decimals stand behind points");
    }
  }

  /// Whether the delimiter of the first line stands in no line below it, which may then be a title.
  [[nodiscard]] bool is_alone_in_first_line() const {
    return head_.delimiter == ' ' || std::all_of(rows_.begin() + 1, rows_.end(), [this](const HeadLine& row) {
             return fields_of(row.text, head_.delimiter).size() == 1;
           });
  }

  [[nodiscard]] bool gives_numbers(char delimiter, const NumberRules& rules) const {
    return width(delimiter, 0) && std::ranges::all_of(rows_, [&](const HeadLine& row) {
             return std::ranges::all_of(fields_of(row.text, delimiter), [&](std::string_view field) {
               const NumberFault fault = read_field(field, rules).fault;
               return fault == NumberFault::none || fault == NumberFault::missing;
             });
           });
  }

  /// Whether some fields of the first lines are numbers with a comma, and none has a point.
  [[nodiscard]] bool has_decimal_commas() const {
    if (head_.delimiter != ';' && head_.delimiter != '\t') return false;
    bool has_commas = false;
    for (const HeadLine& row : rows_) {
      for (const std::string_view field : fields_of(row.text, head_.delimiter)) {
        if (field.find('.') != std::string_view::npos && read_number(field).fault == NumberFault::none) return false;
        const bool is_number = read_field(field, {true, rules_.first_day}).fault == NumberFault::none;
        has_commas = has_commas || (is_number && field.find(',') != std::string_view::npos);
      }
    }
    return has_commas;
  }

  /// Refuses rows of numbers such as 1,5 between other delimiters.
  void refuse_decimal_commas() const {
    if (rules_.decimal_comma || gives_numbers(head_.delimiter, rules_)) return;
    const NumberRules with_commas{true, rules_.first_day};
    for (const char delimiter : {';', '\t', ' '}) {
      if (head_.delimiter != ',' && head_.delimiter != delimiter) continue;
      check<DataError>(!gives_numbers(delimiter, with_commas),
                       "{}: numbers with commas stand between delimiters: {}. Give --decimal comma, unless the commas "
                       "stand before thousands.",
                       lines_.path(), shown_delimiter(delimiter));
    }
  }

  // Names.

  [[nodiscard]] bool has_number(std::string_view line) const {
    const Fields fields = fields_of(line, head_.delimiter);
    return std::ranges::any_of(
        fields, [this](std::string_view field) { return read_field(field, rules_).fault == NumberFault::none; });
  }

  /// Whether the last comment has the names: as many fields as the first line below it, which is a record.
  [[nodiscard]] bool comment_names_columns(std::size_t columns) const {
    if (comment_.empty() || columns < 2 || settings_.header == ReadSettings::Header::no) return false;
    if (fields_of(without_mark(comment_), head_.delimiter).size() != columns) return false;
    if (has_number(rows_.front().text)) return true;
    check<DataError>(rows_.size() < 2 || has_number(rows_[1].text),
                     "{}: rows {} and {} may each name the columns, and no row below has a number. Take the # away "
                     "from the first, or remove it.",
                     lines_.path(), comment_row_, rows_.front().row);
    return false;
  }

  void take_names(std::string_view line) {
    for (const std::string_view field : fields_of(line, head_.delimiter)) head_.columns.names.push_back(text_of(field));
  }

  void read_names(const IsHeader& is_header) {
    const Fields fields = fields_of(rows_.front().text, head_.delimiter);
    head_.columns.count = fields.size();
    if (comment_names_columns(fields.size())) {
      take_names(without_mark(comment_));
      head_.notes.push_back(fmt::format("the names of the columns stand in a comment, in row {}", comment_row_));
      return;
    }
    if (!comment_.empty()) {
      head_.notes.push_back(
          first_comment_ == comment_row_
              ? fmt::format("row {} is taken as a comment: it begins with #", comment_row_)
              : fmt::format("rows {} to {} are taken as comments: they begin with #", first_comment_, comment_row_));
    }
    if (!is_header(fields, rules_)) return;
    refuse_broken_name(fields);
    take_names(rows_.front().text);
    rows_.erase(rows_.begin());
    skip_line();
  }

  void refuse_broken_name(const Fields& fields) const {
    check<DataError>(!is_open(fields.back()),
                     "{}: row {}: a name in quotes goes over the end of the line: the names of the columns are one "
                     "line. Take the line break out.",
                     lines_.path(), rows_.front().row);
  }

  // What the records have in common. `rows_` are records.

  [[nodiscard]] bool has_names() const { return !head_.columns.names.empty(); }

  void refuse_other_layouts() {
    if (rows_.empty()) return;
    if (head_.columns.count == 1) refuse_one_column();
    if (has_names()) compare_names_with_records();
    refuse_second_header();
    look_at_last();
  }

  [[nodiscard]] bool all_records(const std::function<bool(const Fields&)>& are) const {
    return std::ranges::all_of(rows_, [&](const HeadLine& row) { return are(fields_of(row.text, head_.delimiter)); });
  }

  void refuse_one_column() const {
    const bool bars = width('|', 0).has_value();
    check<DataError>(!bars, "{}: '|' stands between the columns. Give --delimiter '|'.", lines_.path());
    const auto in_quotes = [](const HeadLine& row) {
      const std::string_view line = row.text;
      return line.size() > 2 && line.starts_with('"') && line.ends_with('"') &&
             line.substr(1, line.size() - 2).find_first_of(",;\t") != std::string_view::npos;
    };
    check<DataError>(!std::ranges::all_of(rows_, in_quotes),
                     "{}: each line stands in quotes as a whole, so that it is one field. Take them off: sed "
                     "'s/^\"//; s/\"$//; s/\"\"/\"/g' FILE > NEW.",
                     lines_.path());
  }

  /// Where all records have another number of fields than there are names, no record is at fault.
  void compare_names_with_records() {
    const std::size_t names = head_.columns.count;
    const std::size_t fields = fields_of(rows_.front().text, head_.delimiter).size();
    if (fields == names || !all_records([&](const Fields& each) { return each.size() == fields; })) return;
    const std::string_view begin = rows_.front().text;
    if (rows_.size() == 1 && !(fields == names + 1 && begin.starts_with('"'))) return;
    const std::int64_t row = rows_.front().row;
    if (names > 1 && fields == names + 1) {
      check<DataError>(!all_records([](const Fields& each) { return each.back().empty(); }),
                       "{}: the rows end with {}, and the names of the columns do not. Take it off: sed 's/{}$//' FILE "
                       "> NEW.",
                       lines_.path(), shown_delimiter(head_.delimiter), in_expression(head_.delimiter));
      take_row_names();
      return;
    }
    check<DataError>(names > 1,
                     "{}: a line without columns stands above the table, which begins in row {}. Remove what is above: "
                     "tail -n +{} FILE > NEW.",
                     lines_.path(), row, row);
    fail<DataError>(
        "{}: the row of names has {} fields, and all {} rows below it have {} (by {} between them). Put a name that "
        "holds a delimiter in quotes, remove a title above the names, or give --delimiter.",
        lines_.path(), names, rows_.size(), fields, shown_delimiter(head_.delimiter));
  }

  void take_row_names() {
    head_.columns.names.insert(head_.columns.names.begin(), "");
    ++head_.columns.count;
    head_.columns.row_names = true;
    head_.notes.push_back(
        "the rows have one field more than there are names, so the first holds row names, as R writes them: it is no "
        "feature");
  }

  /// A row of units or of further names: it has no number, and all rows below have some where it has a text.
  void refuse_second_header() const {
    constexpr std::size_t fewest = 3;
    if (!has_names() || rows_.size() < fewest || has_number(rows_.front().text)) return;
    const Fields first = fields_of(rows_.front().text, head_.delimiter);
    if (first.size() != head_.columns.count) return;
    for (std::size_t column = 0; column < first.size(); ++column) {
      if (read_field(first[column], rules_).fault != NumberFault::text) continue;
      const bool numbers = std::all_of(rows_.begin() + 1, rows_.end(), [&](const HeadLine& row) {
        const Fields fields = fields_of(row.text, head_.delimiter);
        return column < fields.size() && read_field(fields[column], rules_).fault == NumberFault::none;
      });
      check<DataError>(!numbers,
                       "{}: row {} has no number, and the rows below it have: it looks like a second row of names, or "
                       "units. Remove it: sed {}d FILE > NEW.",
                       lines_.path(), rows_.front().row, rows_.front().row);
    }
  }

  void look_at_last() {
    const bool nameless = !has_names() || head_.columns.names.back().empty();
    head_.last_is_empty = head_.columns.count > 2 && head_.delimiter != ' ' && nameless &&
                          all_records([](const Fields& each) { return each.back().empty(); });
  }

  LineReader& lines_;
  const ReadSettings& settings_;
  NumberRules rules_;
  TableHead head_;
  std::vector<HeadLine> rows_;  // the first lines that are not taken yet
  std::string comment_;         // the last above the table
  std::int64_t comment_row_ = 0;
  std::int64_t first_comment_ = 0;
};

}  // namespace

TableHead read_head(LineReader& lines, const ReadSettings& settings, const IsHeader& is_header) {
  return HeadReader(lines, settings).read(is_header);
}

bool are_names(const LineReader& lines, const Fields& fields, const std::vector<bool>& may_be_text,
               const NumberRules& rules) {
  const FirstLine line = first_line(fields, may_be_text, rules);
  if (line == FirstLine::unclear) {
    throw_unclear_first_line(fmt::format("{}: row {}", lines.path(), lines.mark().row + 1),
                             fmt::format("{}", fmt::join(fields, " ")));
  }
  return line == FirstLine::names;
}

void refuse_empty_last(const TableHead& head, const ColumnRoles& roles) {
  const std::size_t last = head.columns.count - 1;
  const bool used = roles.label == last || std::ranges::binary_search(roles.features, last);
  check<DataError>(!head.last_is_empty || !used,
                   "{}: every line ends with {}, so that its last column is empty. Give --drop {}.", head.columns.path,
                   shown_delimiter(head.delimiter), last);
}

void refuse_open_quote(const LineReader& lines, const Fields& fields) {
  if (std::ranges::none_of(fields, is_open)) return;
  throw RecordError(
      fmt::format("{}: a text in quotes goes over the end of the line: a row is one line. Take the line break out, or "
                  "the column of the text.",
                  lines.where()));
}

void throw_ragged(const LineReader& lines, const Fields& fields, const TableHead& head) {
  refuse_open_quote(lines, fields);
  const bool comment = fields.front().starts_with('#');
  throw RecordError(fmt::format("{}: {} fields: {} expected, as in the first row. {}.", lines.where(), fields.size(),
                                head.columns.count,
                                comment ? "Remove the row: comments after # stand above the first record alone"
                                        : "Complete the row or remove it"));
}

}  // namespace starling
