#include "column_roles.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/ranges.h>

#include "core/check.hpp"
#include "core/text/exact_number.hpp"
#include "core/text/names.hpp"
#include "data/cells/number.hpp"
#include "data/column_names.hpp"
#include "files/text_files.hpp"

namespace starling {

namespace {

/// The use of each column so far: the option that named it, or nothing.
class Uses {
 public:
  explicit Uses(const ColumnNames& columns) : columns_(columns), options_(columns.count) {}

  std::size_t take(const std::string& wanted, const std::string& option) {
    const std::size_t column = columns_.find(wanted, option);
    check(options_[column].empty(), "{}: {} is named by {} and by {}: a column has one use. Name it once.",
          columns_.path, columns_.place(column), options_[column], option);
    options_[column] = option;
    return column;
  }
  void take(std::size_t column) { options_[column] = "default"; }
  [[nodiscard]] bool is_free(std::size_t column) const { return options_[column].empty(); }

 private:
  const ColumnNames& columns_;
  std::vector<std::string> options_;
};

/// The first column without a use that is called y or label.
std::optional<std::size_t> find_named_label(const ColumnNames& columns, const Uses& uses) {
  for (std::size_t column = 0; column < columns.names.size(); ++column) {
    if (uses.is_free(column) && is_label_name(columns.names[column])) return column;
  }
  return std::nullopt;
}

/// Label column of a file that is read for its labels alone: the named column, or the only column without a use.
std::size_t find_sole_label(const ColumnNames& columns, const Uses& uses) {
  if (const auto named = find_named_label(columns, uses)) return *named;
  std::vector<std::size_t> free;
  for (std::size_t column = 0; column < columns.count; ++column) {
    if (uses.is_free(column)) free.push_back(column);
  }
  check<DataError>(free.size() == 1,
                   "{}: labels are missing: no column is called y or label: {}. Say which column has them with "
                   "--label, or name the file that has them with --label-source.",
                   columns.path, columns.list());
  return free.front();
}

/// A key that is the last column may be meant as the label or not: then the user must say.
std::optional<std::size_t> find_default_label(const ColumnNames& columns, const Uses& uses,
                                              std::optional<std::size_t> key) {
  if (const auto named = find_named_label(columns, uses)) return named;
  std::optional<std::size_t> last;
  for (std::size_t column = 0; column < columns.count; ++column) {
    if (uses.is_free(column)) last = column;
  }
  check(!last || last != key,
        "{}: {} is the last, and --partition column: names it: it may be the label too. Give --label.", columns.path,
        columns.place(last.value_or(0)));
  return last;
}

/// Label column, if any, of a file that need not have one. A column number is not accepted: the number would mean
/// another column in each file. A feature of the model may be called y or label, too.
std::optional<std::size_t> find_optional_label(const ColumnNames& columns, const ReadSettings& settings, Uses& uses) {
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (!settings.label.empty() && has(columns.names, settings.label)) return uses.take(settings.label, "--label");
  const std::optional<std::size_t> named = find_named_label(columns, uses);
  const bool is_feature = named && settings.constants && has(settings.constants->columns, columns.names[*named]);
  return is_feature ? std::nullopt : named;
}

/// Whether `--label` means the labels beside the columns, which are called y, and no column.
bool means_labels_beside(const ColumnNames& columns, const ReadSettings& settings) {
  const bool may_be = settings.label.empty() || settings.label == "y" || settings.label_may_be_beside;
  return may_be && std::find(columns.names.begin(), columns.names.end(), settings.label) == columns.names.end();
}

/// The columns, ascending, that have the names of the features of `taker`, such as "the model".
std::vector<std::size_t> find_features(const ColumnNames& columns, const std::vector<std::string>& wanted,
                                       const std::string& taker, const Uses& uses) {
  std::vector<std::size_t> found;
  std::vector<std::string> missing;
  const std::vector<std::size_t> places = places_of(wanted, columns.names);
  for (std::size_t j = 0; j < wanted.size(); ++j) {
    const std::size_t column = places[j];
    if (column == columns.names.size()) {
      missing.push_back(fmt::format("'{}'", excerpt(wanted[j])));
      continue;
    }
    const auto here = std::ranges::count(columns.names, wanted[j]);
    const auto there = std::ranges::count(wanted, wanted[j]);
    check<DataError>(here == there,
                     "{}: {} columns are called '{}', of which {} takes {}: one must be meant. Rename the others.",
                     columns.path, here, excerpt(wanted[j]), taker, there);
    check(uses.is_free(column), "{}: {} is a feature of {}: it cannot be the label, an identifier or dropped.",
          columns.path, columns.place(column), taker);
    found.push_back(column);
  }
  check<DataError>(missing.empty(), "{}: columns that {} takes are missing: {} ({}). Add them.", columns.path, taker,
                   fmt::join(missing, ", "), columns.list());
  std::sort(found.begin(), found.end());
  return found;
}

/// Names of the columns without a use, beside `features`.
std::vector<std::string> other_names(const ColumnNames& columns, const std::vector<std::size_t>& features,
                                     const Uses& uses) {
  std::vector<std::string> others;
  for (std::size_t column = 0; column < columns.count; ++column) {
    const bool is_feature = std::binary_search(features.begin(), features.end(), column);
    if (uses.is_free(column) && !is_feature) others.push_back(columns.names[column]);
  }
  return others;
}

}  // namespace

std::string ColumnNames::place(std::size_t column) const {
  if (names.empty() || names[column].empty()) return fmt::format("column {} (from 0)", column);
  return fmt::format("column '{}'", excerpt(names[column]));
}

std::string ColumnNames::list() const {
  if (names.empty()) return fmt::format("there is no header, and the columns are 0 to {}", count - 1);
  constexpr std::size_t most = 100;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    text += (i == 0 ? "" : ", ") + csv_text(excerpt(names[i]));
  if (names.size() > most) text += ", …";
  return fmt::format("the columns are {}; they may also be numbered, 0 to {}", text, count - 1);
}

bool ColumnNames::has(const std::string& wanted) const {
  return std::find(names.begin(), names.end(), wanted) != names.end() || column_number(wanted, count).has_value();
}

std::size_t ColumnNames::find(const std::string& wanted, const std::string& option) const {
  const auto named = std::find(names.begin(), names.end(), wanted);
  if (named != names.end()) {
    check(std::find(named + 1, names.end(), wanted) == names.end(),
          "{}: two columns are called '{}': one must be meant. Give {} its number, from 0.", path, wanted, option);
    return static_cast<std::size_t>(named - names.begin());
  }
  if (const auto number = column_number(wanted, count)) return *number;
  const auto with_comma = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
    return name.find(',') != std::string::npos && name.starts_with(wanted);
  });
  if (with_comma != names.end()) {
    fail<UsageError>("{}: no column '{}': in a list, a name with a comma stands in quotes. Give {} '{}'.", path,
                     excerpt(wanted), option, csv_quoted(*with_comma));
  }
  fail<UsageError>("{}: no column '{}': {}. {}", path, excerpt(wanted), list(),
                   did_you_mean(excerpt(wanted), names, "", fmt::format("Give {} one of them.", option)));
}

std::vector<std::size_t> places_of(const std::vector<std::string>& wanted, const std::vector<std::string>& names) {
  std::map<std::string, std::vector<std::size_t>> places;
  for (std::size_t j = names.size(); j > 0; --j) places[names[j - 1]].push_back(j - 1);
  std::vector<std::size_t> found;
  for (const std::string& name : wanted) {
    std::vector<std::size_t>& left = places[name];  // the first is the last
    found.push_back(left.empty() ? names.size() : left.back());
    if (!left.empty()) left.pop_back();
  }
  return found;
}

std::optional<std::size_t> column_number(const std::string& wanted, std::size_t count) {
  const auto column = exact_number<std::size_t>(wanted);
  return column && *column < count ? column : std::nullopt;
}

ColumnRoles choose_columns(const ColumnNames& columns, const ReadSettings& settings, DefaultLabel default_label) {
  ColumnRoles roles;
  Uses uses(columns);
  const bool optional = settings.labels == ReadSettings::Labels::optional;
  const bool none = settings.labels == ReadSettings::Labels::none;
  const bool beside = default_label == DefaultLabel::beside && means_labels_beside(columns, settings);
  roles.labels_beside = beside && needs_labels(settings);
  if (!settings.label.empty() && !optional && !none && !beside) roles.label = uses.take(settings.label, "--label");
  if (!settings.id.empty()) uses.take(settings.id, "--id");
  for (const std::string& column : settings.drop) {
    if (columns.has(column) || !settings.may_lack(column)) uses.take(column, "--drop");
  }
  if (columns.row_names && uses.is_free(0)) uses.take(0);
  if (!settings.key.empty()) roles.key = columns.find(settings.key, settings.key_option);
  if (optional && !beside) {
    roles.label = find_optional_label(columns, settings, uses);
  } else if (!roles.label && !beside && settings.labels == ReadSettings::Labels::alone) {
    roles.label = find_sole_label(columns, uses);
  } else if (!roles.label && !none && default_label == DefaultLabel::named_or_last) {
    roles.label = find_default_label(columns, uses, roles.key);
  }
  if (roles.label) uses.take(*roles.label);
  if (settings.constants && settings.constants->features == 0) return roles;  // of labels and ids alone
  const std::vector<std::string>& wanted = settings.constants ? settings.constants->columns : settings.columns;
  const bool by_name = !wanted.empty() && !columns.names.empty();
  const char* const taker = settings.constants ? "the model" : "the run";
  if (by_name) roles.features = find_features(columns, wanted, taker, uses);  // the key may be one
  if (roles.key) uses.take(*roles.key);
  if (by_name) {
    settings.note_unused(other_names(columns, roles.features, uses));
    return roles;
  }
  for (std::size_t column = 0; column < columns.count; ++column) {
    if (uses.is_free(column)) roles.features.push_back(column);
  }
  check(!roles.features.empty() || settings.labels == ReadSettings::Labels::alone,
        "{}: no column is left as a feature, beside labels, ids and what is dropped: {}. Give it more columns, or drop "
        "fewer.",
        columns.path, columns.list());
  return roles;
}

std::vector<std::string> feature_names(const ColumnNames& columns, const ColumnRoles& roles) {
  std::vector<std::string> names;
  if (columns.names.empty()) return names;
  for (const std::size_t column : roles.features) names.push_back(columns.names[column]);
  return names;
}

void check_dense_dimension(const std::string& path, const ReadSettings& settings, std::size_t features) {
  check(settings.constants || !settings.dimension || *settings.dimension == features,
        "{}: {} features: --dimension says {}; the columns of the file settle it. Leave --dimension out.", path,
        features, settings.dimension.value_or(0));
}

void refuse_column_options(const std::string& path, const ReadSettings& settings, const std::string& why) {
  const auto refuse = [&](bool given, std::string_view option) {
    check(!given, "{}: {}: {}. Leave it out.", path, option, why);
  };
  refuse(!settings.label.empty(), "--label");
  refuse(!settings.id.empty(), "--id");
  refuse(!settings.drop.empty(), "--drop");
  refuse(!settings.key.empty(), settings.key_option);
}

void refuse_text_options(const std::string& path, const ReadSettings& settings) {
  check(settings.delimiter == "auto", "{}: --delimiter: the file is not delimited text. Leave it out.", path);
  check(settings.decimal == ReadSettings::Decimal::point,
        "{}: --decimal: the file is not delimited text. Leave it out.", path);
  check(!settings.first_day, "{}: --dates: the file is not delimited text, whose fields may be dates. Leave it out.",
        path);
  check(settings.missing_values.empty(),
        "{}: --missing-values: the file is not delimited text, where NaN is missing. Leave it out.", path);
  check(settings.header == ReadSettings::Header::automatic,
        "{}: --header: the file is not delimited text. Leave it out.", path);
  check(settings.encode.empty(), "{}: --encode: the file is not delimited text. Leave it out.", path);
}

}  // namespace starling
