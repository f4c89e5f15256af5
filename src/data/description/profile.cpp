#include "data/description/profile.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <unordered_set>

#include <fmt/ranges.h>

#include "core/check.hpp"
#include "core/record_error.hpp"
#include "data/cells/keys.hpp"
#include "data/column_roles.hpp"
#include "data/tables/layout.hpp"
#include "files/text_files.hpp"

namespace starling {

namespace {

constexpr std::size_t most_sampled = std::size_t{1} << 20;  // numbers of all columns
constexpr std::size_t sampled_of_column = 10'000;
constexpr std::size_t most_classes = 20;

/// A table of text, field by field.
class TextTable {
 public:
  TextTable(const std::string& path, const ReadSettings& settings) : lines_(path, settings) {
    head_ = read_head(lines_, settings, [&](const Fields& fields, const NumberRules& rules) {
      return is_header(fields, settings, rules);
    });
    check<DataError>(head_.columns.count > 0, "{}: no records: nothing can be learned from it. Check the file.", path);
  }

  [[nodiscard]] const TableHead& head() const { return head_; }

  /// The fields of the next row; null at the end.
  [[nodiscard]] const Fields* next() {
    std::string_view line;
    do {
      if (!lines_.next(line)) return nullptr;
    } while (line.find_first_not_of(' ') == std::string_view::npos);
    split(line, head_.delimiter, fields_);
    if (fields_.size() != head_.columns.count) throw_ragged(lines_, fields_, head_);
    return &fields_;
  }

 private:
  [[nodiscard]] bool is_header(const Fields& fields, const ReadSettings& settings, const NumberRules& rules) const {
    if (settings.header != ReadSettings::Header::automatic) return settings.header == ReadSettings::Header::yes;
    return are_names(lines_, fields, std::vector<bool>(fields.size(), false), rules);
  }

  LineReader lines_;
  TableHead head_;
  Fields fields_;
};

std::vector<ColumnProfile> columns_of(const TableHead& head, const ReadSettings& settings) {
  using Use = ColumnProfile::Use;
  const ColumnNames& names = head.columns;
  const ColumnRoles roles = choose_columns(names, settings, DefaultLabel::named_or_last);
  refuse_empty_last(head, roles);
  const std::size_t sampled = std::clamp<std::size_t>(most_sampled / names.count, 100, sampled_of_column);
  std::vector<ColumnProfile> columns;
  for (std::size_t column = 0; column < names.count; ++column) {
    const bool feature = std::ranges::binary_search(roles.features, column);
    const Use use = feature ? Use::feature : roles.label == column ? Use::label : Use::none;
    columns.emplace_back(names.names.empty() ? std::to_string(column) : names.names[column], use, sampled);
  }
  return columns;
}

/// Unit of the second digit of a number.
double second_digit(double value) {
  return std::pow(10, std::floor(std::log10(std::abs(value))) - 1);
}

/// The number rounded to two digits of its own or of the range's width, away from the range's inside.
double outwards(double value, double width, bool up) {
  if (value == 0) return 0;
  const double unit = std::min(second_digit(value), width > 0 ? second_digit(width) : second_digit(value));
  const double rounded = (up ? std::ceil(value / unit) : std::floor(value / unit)) * unit;
  return std::isfinite(rounded) ? rounded : value;
}

std::string range_line(const std::string& key, const Moments& moments) {
  const double width = moments.max() - moments.min();
  double low = outwards(moments.min(), width, false);
  double high = outwards(moments.max(), width, true);
  if (low >= high) {
    low -= 1;
    high += 1;
  }
  return fmt::format("{},{:.15g},{:.15g}\n", key, low, high);
}

/// Whether a column of numbers has lines in tables of numbers.
bool is_quantity(const ColumnProfile& column) {
  if (column.use == ColumnProfile::Use::none || column.is_text() || column.numbers == 0) return false;
  return column.use == ColumnProfile::Use::feature || column.many || column.distinct.size() > most_classes;
}

bool says_yes(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr std::array<std::string_view, 16> words{"yes",  "y",    "true", "t",       "ja",  "j",
                                                   "oui",  "o",    "si",   "s\u00ed", "sim", "event",
                                                   "case", "dead", "died", "positive"};
  return std::ranges::find(words, text) != words.end();
}

std::string draft_categories(const TableProfile& profile) {
  std::string text;
  for (const ColumnProfile& column : profile.columns) {
    const bool used = column.use != ColumnProfile::Use::none && column.is_text() && !column.has_texts_among_numbers() &&
                      !column.has_dates();
    if (!used || has_too_many_texts(profile, column)) continue;
    std::vector<std::string> texts(column.distinct.begin(), column.distinct.end());
    // The class that models predict is 1: of yes and no that is yes, in either language.
    const bool has_yes_first = column.use == ColumnProfile::Use::label && texts.size() == 2 && says_yes(texts.front());
    if (has_yes_first) std::swap(texts.front(), texts.back());
    int value = 0;
    for (const std::string& each : texts) {
      text += fmt::format("{},{},{}\n", csv_text(column.name), csv_text(each), value++);
    }
  }
  return text;
}

}  // namespace

void Sample::add(double value) {
  ++count_;
  if (values_.size() < most_) {
    values_.push_back(value);
  } else if (const std::uint64_t place = random_() % count_; place < most_) {
    values_[static_cast<std::size_t>(place)] = value;
  }
}

double Sample::quantile(double p) const {
  if (values_.empty()) return 0;
  std::vector<double> sorted = values_;
  std::ranges::sort(sorted);
  const double place = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

void ColumnProfile::add(std::string_view field, const NumberRules& rules, const MissingMarks& marks) {
  const ParsedNumber number = read_field(field, rules);
  if (number.fault == NumberFault::missing || marks.has(field) || marks.is_other(text_of(field))) {
    ++missing;
    return;
  }
  if (number.fault == NumberFault::none) {
    ++numbers;
    moments.add(number.value);
    sample.add(number.value);
  } else {
    ++(number.fault == NumberFault::text ? texts : not_finite);
  }
  const std::string text = text_of(field);
  if (number.fault == NumberFault::text && few_texts.size() < most_few) few_texts.insert(excerpt(text));
  const std::string_view key = key_of_text(text).value_or(text);
  if (many || distinct.contains(key)) return;
  distinct.emplace(key);
  many = distinct.size() > most_distinct || field.size() > longest_text;
  if (many) distinct.clear();
}

bool ColumnProfile::has_dates() const {
  return is_text() && std::ranges::all_of(few_texts, [](const std::string& text) { return is_date(text); });
}

TableProfile profile_table(const std::string& path, const ReadSettings& settings, const std::function<void()>& tick) {
  TextTable table(path, settings);
  TableProfile profile;
  profile.has_names = !table.head().columns.names.empty();
  profile.notes = table.head().notes;
  profile.columns = columns_of(table.head(), settings);
  const std::optional<std::size_t> key =
      choose_columns(table.head().columns, settings, DefaultLabel::named_or_last).key;
  std::unordered_set<std::string> keys;
  const MissingMarks marks(settings.missing_values);
  while (const Fields* fields = table.next()) {
    for (std::size_t column = 0; column < fields->size(); ++column) {
      profile.columns[column].add((*fields)[column], table.head().rules, marks);
    }
    if (key && !is_missing_key((*fields)[*key])) keys.insert(text_of((*fields)[*key]));
    ++profile.records;
    tick();
  }
  profile.keys = static_cast<std::int64_t>(keys.size());
  check<DataError>(profile.records > 0, "{}: no records: nothing can be learned from it. Check the file.", path);
  return profile;
}

bool has_decimal_commas(const std::string& path, ReadSettings settings) {
  settings.decimal = ReadSettings::Decimal::automatic;
  try {
    return TextTable(path, settings).head().rules.decimal_comma;
  } catch (const DataError&) {  // the table is not laid out so, and who reads it otherwise says why
    return false;
  }
}

std::string text_of_constant(double value, double deviation) {
  const double more = value == 0 ? 0 : 3 + std::ceil(std::log10(std::abs(value) / deviation));
  const auto digits = static_cast<int>(std::clamp(more, 6.0, 17.0));
  return fmt::format("{:.{}g}", value, digits);
}

std::vector<DraftTable> draft_tables(const TableProfile& profile) {
  std::string ranges;
  std::string standardise;
  std::string missing;
  std::size_t feature = 0;
  for (const ColumnProfile& column : profile.columns) {
    const bool is_label = column.use == ColumnProfile::Use::label;
    const std::string number = is_label ? "label" : std::to_string(feature);
    const std::string key = csv_text(profile.has_names ? column.name : number);
    if (column.use == ColumnProfile::Use::feature) ++feature;
    if (!is_quantity(column)) continue;
    const double deviation = column.moments.deviation() > 0 ? column.moments.deviation() : 1;
    const auto constant = [deviation](double value) { return text_of_constant(value, deviation); };
    ranges += range_line(key, column.moments);
    standardise += fmt::format("{},{},{:.6g}\n", key, constant(column.moments.mean()), deviation);
    if (!is_label) missing += fmt::format("{},{}\n", key, constant(column.sample.quantile(0.5)));
  }
  std::vector<DraftTable> drafts{
      {"ranges.csv", "--ranges", "feature,low,high\n" + ranges},
      {"standardise.csv", "--standardise", "feature,mean,sd\n" + standardise},
      {"missing.csv", "--missing constant:", "feature,value\n" + missing},
      {"encode.csv", "--encode onehot:", "column,category,value\n" + draft_categories(profile)}};
  std::erase_if(drafts, [](const DraftTable& draft) { return std::ranges::count(draft.text, '\n') < 2; });
  return drafts;
}

bool has_too_many_texts(const TableProfile& profile, const ColumnProfile& column) {
  if (column.many) return true;
  return column.distinct.size() > most_classes &&
         10 * static_cast<std::int64_t>(column.distinct.size()) > profile.records;
}

}  // namespace starling
