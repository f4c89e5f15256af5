#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "categories.hpp"
#include "core/check.hpp"
#include "core/record_error.hpp"
#include "data/cells/keys.hpp"
#include "data/cells/number.hpp"
#include "data/column_roles.hpp"
#include "data/formats/gz_file.hpp"
#include "data/formats/readers.hpp"
#include "delimited.hpp"
#include "files/text.hpp"
#include "layout.hpp"
#include "line_reader.hpp"

namespace starling {

namespace {

/// Reads a number of at most 15 digits without an exponent; null where there is something else. A whole number below
/// 2^53 and a power of ten up to 10^22 are exact, so that their quotient is rounded once: to what from_chars gives.
const char* parse_short_number(const char* at, const char* end, double& value) {
  constexpr std::array<double, 16> powers{1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  constexpr std::ptrdiff_t most_digits = 15;
  const auto is_digit = [end](const char* c) { return c != end && *c >= '0' && *c <= '9'; };
  const bool negative = at != end && *at == '-';
  if (negative) ++at;
  std::int64_t whole = 0;
  const char* start = at;
  while (is_digit(at) && at - start <= most_digits) whole = 10 * whole + (*at++ - '0');
  std::ptrdiff_t digits = at - start;
  std::ptrdiff_t decimals = 0;
  if (at != end && *at == '.') {
    start = ++at;
    while (is_digit(at) && digits + (at - start) <= most_digits) whole = 10 * whole + (*at++ - '0');
    decimals = at - start;
    digits += decimals;
  }
  if (digits == 0 || digits > most_digits || (at != end && (*at == 'e' || *at == 'E'))) return nullptr;
  const double size = decimals == 0 ? static_cast<double>(whole)
                                    : static_cast<double>(whole) / powers[static_cast<std::size_t>(decimals)];
  value = negative ? -size : size;
  return at;
}

/// Reads the number at `at`; null where there is no number or the number is not finite.
const char* parse_plain_number(const char* at, const char* end, double& value) {
  if (const char* stop = parse_short_number(at, end, value)) return stop;
  const auto [stop, error] = std::from_chars(at, end, value);
  return error == std::errc() && std::isfinite(value) ? stop : nullptr;
}

Categories categories_of(const ReadSettings& settings) {
  if (settings.constants) return {settings.constants->categories, "the model"};
  return settings.encode.empty() ? Categories() : Categories(settings.encode);
}

/// The marks of missing values: those of --missing-values, else those that the model was learned with.
std::vector<std::string> marks_of(const ReadSettings& settings) {
  const bool of_model = settings.constants && settings.missing_values.empty();
  return of_model ? settings.constants->missing_values : settings.missing_values;
}

/// A saved model has its own constants, and takes all columns that it knows.
Remedies remedies_in(const ReadSettings& settings) {
  const bool own = settings.constants == nullptr;
  return {
      .encode = own, .drop = own, .label = true, .missing = own, .marks = true, .decimal_comma = true, .dates = own};
}

class CsvReader final : public RecordReader {
 public:
  CsvReader(const std::string& path, const ReadSettings& settings, Part part, const Remedies& remedies)
      : lines_(path, settings),
        remedies_(remedies),
        key_as_written_(settings.key_as_written),
        missing_(missing_rule(settings)),
        mark_texts_(marks_of(settings)),
        marks_(mark_texts_),
        decimal_auto_(settings.decimal != ReadSettings::Decimal::point ||
                      (settings.constants && settings.constants->decimal_auto)) {
    check(settings.decimal != ReadSettings::Decimal::comma || parse_delimiter(settings.delimiter) != ',',
          "--delimiter {} and --decimal comma: a comma cannot be both. Give one of them another value.",
          excerpt(settings.delimiter));
    if (part != Part::labels) categories_ = categories_of(settings);
    categories_.set_missing(marks_);
    head_ = read_head(lines_, settings, [&](const Fields& fields, const NumberRules& rules) {
      return is_header(fields, settings, part, rules);
    });
    if (head_.columns.count == 0) return;
    check_columns(settings, part);
    choose(settings, part);
  }

  bool next(Record& record) override {
    record.sparse = false;
    record.index.clear();
    record.values.resize(features_);
    std::string_view line;
    if (!next_line(line)) return false;
    const bool may_be_plain = !encoded_ && !head_.rules.decimal_comma && !marks_.has_numbers();
    if (may_be_plain && parse_plain(line, record)) return true;
    split(line, head_.delimiter, fields_);
    if (fields_.size() != columns().count) throw_ragged(lines_, fields_, head_);
    parse_fields(record);
    return true;
  }

  [[nodiscard]] std::size_t features() const override { return features_; }
  [[nodiscard]] std::vector<std::string> names() const override { return feature_names_; }
  [[nodiscard]] std::string label_name() const override { return label_name_; }
  [[nodiscard]] PublicConstants constants() const override {
    PublicConstants constants = RecordReader::constants();
    constants.categories = categories_.found();
    constants.first_day = head_.rules.first_day;
    constants.missing_values = mark_texts_;
    constants.decimal_auto = decimal_auto_;
    return constants;
  }
  [[nodiscard]] const std::vector<std::string>& notes() const { return head_.notes; }
  [[nodiscard]] std::string where() const override { return lines_.where(); }
  [[nodiscard]] Mark mark() const override { return lines_.mark(); }
  void seek(const Mark& mark) override { lines_.seek(mark); }

 private:
  using Missing = ReadSettings::Missing;
  /// Use of a column.
  enum class Role : unsigned char { feature, label, none };

  [[nodiscard]] const ColumnNames& columns() const { return head_.columns; }

  /// Skips blank lines. A line of tabs alone is not blank: all values of this row are missing.
  bool next_line(std::string_view& line) {
    while (lines_.next(line)) {
      if (line.find_first_not_of(' ') != std::string_view::npos) return true;
    }
    return false;
  }

  void check_columns(const ReadSettings& settings, Part part) const {
    const bool both = part == Part::records && settings.labels == ReadSettings::Labels::required;
    check<DataError>(!both || columns().count > 1,
                     "{}: one column: a record needs a label and at least one feature. Separate the columns by comma, "
                     "semicolon, tab or space, or give a second file of labels: FEATURES,LABELS.",
                     columns().path);
    check<DataError>(part != Part::labels || columns().count == 1,
                     "{}: {} columns: the second file of a pair has one value per record. Give the file of labels. "
                     "Files of several clients are named as in site-{{client}}.csv, or by --parties.",
                     columns().path, columns().count);
  }

  [[nodiscard]] bool is_header(const Fields& fields, const ReadSettings& settings, Part part,
                               const NumberRules& rules) const {
    if (settings.header != ReadSettings::Header::automatic) return settings.header == ReadSettings::Header::yes;
    std::vector<bool> may_be_text(fields.size(), false);
    if (part != Part::labels && names_a_field(fields, settings, may_be_text)) return true;
    return are_names(lines_, fields, may_be_text, rules);
  }

  /// Whether an option names a column by a text, not a number, that stands in the first line. Marks the columns that
  /// are not read as numbers and are given by their numbers.
  [[nodiscard]] bool names_a_field(const Fields& fields, const ReadSettings& settings,
                                   std::vector<bool>& may_be_text) const {
    std::vector<std::string> wanted = categories_.columns();
    if (settings.constants) {
      wanted.insert(wanted.end(), settings.constants->columns.begin(), settings.constants->columns.end());
    }
    wanted.insert(wanted.end(), settings.drop.begin(), settings.drop.end());
    wanted.insert(wanted.end(), {settings.id, settings.key, settings.label});
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const bool is_label = i + 1 == wanted.size();
      if (const auto number = column_number(wanted[i], fields.size())) {
        if (!is_label) may_be_text[*number] = true;
      } else if (read_number(wanted[i]).fault == NumberFault::text &&
                 std::find(fields.begin(), fields.end(), wanted[i]) != fields.end()) {
        return true;
      }
    }
    return false;
  }

  void choose(const ReadSettings& settings, Part part) {
    roles_.assign(columns().count, Role::none);
    if (part == Part::labels) {
      roles_[0] = Role::label;
      return;
    }
    const ColumnRoles chosen =
        choose_columns(columns(), settings, part == Part::records ? DefaultLabel::named_or_last : DefaultLabel::none);
    refuse_empty_last(head_, chosen);
    for (const std::size_t column : chosen.features) roles_[column] = Role::feature;
    if (chosen.label) roles_[*chosen.label] = Role::label;
    key_ = chosen.key;
    features_ = chosen.features.size();
    feature_names_ = feature_names(columns(), chosen);
    if (chosen.label && !columns().names.empty()) label_name_ = columns().names[*chosen.label];
    categories_.find_in(columns());
    for (std::size_t j = 0; j < chosen.features.size(); ++j) {
      if (categories_.becomes_features(chosen.features[j], settings))
        categories_.make_one_hot(chosen.features[j], j, settings.encoding);
    }
    for (std::size_t column = 0; column < columns().count; ++column) {
      encoded_ = encoded_ || (roles_[column] != Role::none && categories_.has(column));
    }
    check_dense_dimension(columns().path, settings, features_);
  }

  /// Reads a line of plain numbers and skipped fields in one go. False for any line that is not as simple as that, and
  /// for all that is wrong: parse_fields then reads it, or says what is wrong.
  [[nodiscard]] bool parse_plain(std::string_view line, Record& record) const {
    const char* at = line.data();
    const char* const end = at + line.size();
    double* value = record.values.data();
    for (std::size_t column = 0; column < columns().count; ++column) {
      while (at != end && *at == ' ') ++at;
      if (column == key_ && !take_key(at, end, record)) return false;
      const Role role = roles_[column];
      if (role == Role::none) {
        if (at != end && *at == '"') return false;
        at = field_stop(at, end);
      } else {
        double& target = role == Role::label ? record.label : *value++;
        at = parse_plain_number(at, end, target);
        if (at == nullptr) return false;
      }
      if (at == end) return column + 1 == columns().count;
      if (*at++ != head_.delimiter) return false;
    }
    return false;
  }

  [[nodiscard]] const char* field_stop(const char* at, const char* end) const {
    const void* found = std::memchr(at, head_.delimiter, static_cast<std::size_t>(end - at));
    return found == nullptr ? end : static_cast<const char*>(found);
  }

  /// Takes the key's text where it stands without quotes.
  [[nodiscard]] bool take_key(const char* at, const char* end, Record& record) const {
    if (at != end && *at == '"') return false;
    const std::string_view text = trimmed({at, static_cast<std::size_t>(field_stop(at, end) - at)}, " \t");
    const auto key = key_as_written_ ? std::optional(text) : key_of_text(text);
    if (key) record.key = *key;
    return key.has_value();
  }

  [[nodiscard]] std::string key() const {
    const std::string text = text_of(fields_[*key_]);
    if (key_as_written_) return text;
    if (const auto key = key_of_text(text)) return std::string(*key);
    const std::string place = fmt::format("{}: {}", where(), columns().place(*key_));
    const std::string why = "a rounded number, as programs write it: two keys may have become one";
    const std::string remedy = "Write the column as text, with all digits";
    throw RecordError(fmt::format("{} is no key: {}. {}.", place, why, remedy),
                      fmt::format("{} is '{}': {}. {}.", place, excerpt(text), why, remedy));
  }

  void parse_fields(Record& record) const {
    if (key_) record.key = key();  // known where a field is at fault, too
    double* value = record.values.data();
    for (std::size_t column = 0; column < columns().count; ++column) {
      if (roles_[column] == Role::feature) *value++ = feature(column);
      if (roles_[column] == Role::label) record.label = number(column);
    }
  }

  [[nodiscard]] bool is_missing(std::string_view field) const {
    return is_missing_feature(field) || is_other_mark(field);
  }
  [[nodiscard]] bool is_other_mark(std::string_view field) const {
    return marks_.is_other(field) || (field.find('"') != std::string_view::npos && marks_.is_other(text_of(field)));
  }

  /// A feature's number; NaN where it is missing and --missing fills it in.
  [[nodiscard]] double feature(std::size_t column) const {
    const std::string_view field = fields_[column];
    const bool missing = missing_ != Missing::refuse && is_missing(field);
    if (!missing) return number(column);
    if (!categories_.has(column)) return std::numeric_limits<double>::quiet_NaN();
    const bool has_no_number = categories_.one_hot(column) && missing_ == Missing::constant;
    if (has_no_number || categories_.value(column, text_of(field))) return number(column);
    return std::numeric_limits<double>::quiet_NaN();
  }

  [[nodiscard]] double number(std::size_t column) const {
    if (categories_.has(column)) return category(column);
    ParsedNumber parsed = read_field(fields_[column], head_.rules);
    if (is_other_mark(fields_[column])) parsed.fault = NumberFault::missing;
    if (parsed.fault == NumberFault::text && head_.rules.decimal_comma) throw_point(column);
    if (parsed.fault != NumberFault::none) {
      refuse_open_quote(lines_, fields_);
      const std::string others = parsed.fault == NumberFault::text ? other_texts(column) : "";
      throw_number_fault(where(), columns().place(column), fields_[column], parsed.fault, remedies_of(column), {},
                         others);
    }
    return parsed.value;
  }

  /// What mends a field of this column.
  [[nodiscard]] Remedies remedies_of(std::size_t column) const {
    const bool is_label = roles_[column] == Role::label;
    Remedies remedies = remedies_;
    remedies.label = remedies.label && is_label;
    remedies.drop = remedies.drop && !is_label;
    remedies.missing = remedies.missing && !is_label;
    remedies.marks = remedies.marks && !is_label;
    remedies.decimal_comma = remedies.decimal_comma && head_.delimiter != ',' && !head_.rules.decimal_comma;
    remedies.dates = remedies.dates && !head_.rules.first_day;
    return remedies;
  }

  /// "; no number either: 'sex', 'town'" for the columns after this one whose fields are texts: a table with one such
  /// column often has several, and their owner decides about all at once.
  [[nodiscard]] std::string other_texts(std::size_t column) const {
    constexpr std::size_t most = 20;
    std::vector<std::string> found;
    std::size_t more = 0;
    for (++column; column < columns().count; ++column) {
      const bool read = roles_[column] == Role::feature || roles_[column] == Role::label;
      if (!read || categories_.has(column)) continue;
      if (read_field(fields_[column], head_.rules).fault != NumberFault::text) continue;
      if (found.size() == most) ++more;
      if (found.size() < most) found.push_back(columns().place(column));
    }
    if (found.empty()) return "";
    return fmt::format("{}{}{}", other_texts_mark, fmt::join(found, ", "),
                       more > 0 ? fmt::format(" and {} more", more) : "");
  }

  /// Throws where a field has a point among decimal commas.
  void throw_point(std::size_t column) const {
    if (read_number(fields_[column]).fault != NumberFault::none) return;
    const std::string why = "decimals stand behind commas (--decimal), so a point may mean thousands";
    const std::string remedy = "Leave --decimal out, or write the row with a comma and without thousands";
    const std::string place = fmt::format("{}: {}", where(), columns().place(column));
    throw RecordError(
        fmt::format("{} is a number with a point: {}. {}.", place, why, remedy),
        fmt::format("{} is '{}': a number with a point: {}. {}.", place, excerpt(fields_[column]), why, remedy));
  }

  [[nodiscard]] double category(std::size_t column) const {
    const std::string text = text_of(fields_[column]);
    const auto value = categories_.value(column, text);
    if (!value) categories_.throw_unknown(column, where(), columns().place(column), text);
    return *value;
  }

  LineReader lines_;
  Remedies remedies_;
  bool key_as_written_;
  Missing missing_;
  std::vector<std::string> mark_texts_;
  MissingMarks marks_;
  bool decimal_auto_;  ///< whether decimals may stand behind commas
  TableHead head_;
  Fields fields_;  // of the current line, inside the buffer of lines_
  std::vector<Role> roles_;
  Categories categories_;
  bool encoded_ = false;  // whether a feature or the label has categories
  std::optional<std::size_t> key_;
  std::size_t features_ = 0;
  std::vector<std::string> feature_names_;
  std::string label_name_;
};

}  // namespace

std::unique_ptr<RecordReader> open_csv(const std::string& path, const ReadSettings& settings, Part part) {
  return std::make_unique<CsvReader>(path, settings, part, remedies_in(settings));
}

std::vector<std::string> notes_on_csv(const std::string& path, const ReadSettings& settings, Part part) {
  return CsvReader(path, settings, part, remedies_in(settings)).notes();
}

std::unique_ptr<RecordReader> open_constants(const std::string& option, const std::string& path, ReadSettings settings,
                                             Part part, const std::vector<std::string>& features) {
  settings.header = ReadSettings::Header::yes;
  require_regular(path);
  try {
    require_readable(path);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", option, error.what()));
  }
  try {
    auto reader = std::make_unique<CsvReader>(path, settings, part, Remedies());
    if (reader->names() == features) return reader;
  } catch (const UsageError&) {  // a column is missing
  }
  return nullptr;
}

}  // namespace starling
