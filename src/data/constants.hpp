/// Public constants by which the columns of a source become the features of a model, as values.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/settings.hpp"

namespace starling {

/// Version of what `--features hog` makes of a picture. It grows with every change of these features, so that no model
/// meets other features than those that it was learned from: model files hold it.
constexpr std::size_t hog_version = 2;

/// Mean and standard deviation of a column, and the largest magnitude of a standardised value.
struct Standardisation {
  double mean = 0;
  double deviation = 1;
  /// Larger magnitudes are clipped to it; 0: the column is left out, and all its values become 0. A number beyond the
  /// range of doubles becomes the largest one: constants may have been released, and no record may then end a run.
  double limit = std::numeric_limits<double>::max();

  /// Not a number, where the value is none.
  [[nodiscard]] double of(double value) const { return std::clamp((value - mean) / deviation, -limit, limit); }
  [[nodiscard]] bool is_clipped() const { return limit < std::numeric_limits<double>::max(); }
  [[nodiscard]] bool is_left_out() const { return limit == 0; }
  [[nodiscard]] bool operator==(const Standardisation&) const = default;
};

/// The numbers that stand for the texts of a column.
struct CategoryColumn {
  std::string column;  ///< its name, or its number from 0 in the source
  std::map<std::string, double, std::less<>> values;
  /// Place among the feature columns of a column whose categories become features of 0 and 1, in the order of `values`;
  /// none where the values are used.
  std::optional<std::size_t> one_hot = std::nullopt;
  /// The reference category, which becomes no feature: its number in the order of `values`.
  std::optional<std::size_t> reference = std::nullopt;
  [[nodiscard]] bool operator==(const CategoryColumn&) const = default;
};

/// A feature that models see, as made from a feature column of the source.
struct ColumnFeature {
  enum class Kind {
    value,     ///< the column's number; 0 where it is missing
    category,  ///< 1 where the column's text is the category, else 0
    missing,   ///< 1 where the column's value is missing, else 0
  };
  std::size_t column = 0;  ///< among the feature columns
  Kind kind = Kind::value;
  std::size_t category = 0;  ///< number of the category in its table, from 0
  std::string suffix = {};   ///< of the feature's name, after the column's
};

/// The columns and public constants of a source, by which the model of its records applies to other records.
struct PublicConstants {
  std::vector<std::string> columns;  ///< names of the feature columns, in order; empty where the source has none
  std::size_t features = 0;          ///< number of feature columns
  std::string label;                 ///< name of the label's column; empty where it has none
  std::vector<CategoryColumn> categories;
  std::optional<std::chrono::sys_days> first_day;  ///< dates are days since then; none: they are no numbers
  std::vector<Standardisation> standardisation;    ///< one per feature column; empty for none
  std::optional<Standardisation> label_standardisation;
  ReadSettings::Missing missing = ReadSettings::Missing::refuse;
  std::vector<double> fill;  ///< stands for missing values, one per feature column; empty without Missing::constant
  std::vector<std::string> missing_values = {};  ///< texts that say that a feature is missing, beside the usual marks
  bool decimal_auto = false;  ///< whether decimals may stand behind commas: a source is read as it is written
  double scale = 1;
  ReadSettings::Features description = ReadSettings::Features::raw;
  std::vector<double> positive;           ///< labels that count as +1; empty: labels stay as they are
  std::vector<double> class_labels = {};  ///< those of --class-labels; empty: labels stay as they are
  std::vector<double> ignore;             ///< labels whose records are left out

  /// Categories of a feature column that become features; null for a column of numbers.
  [[nodiscard]] const CategoryColumn* one_hot(std::size_t column) const;
  /// The features that the feature columns become, before `description`: those of a column side by side.
  [[nodiscard]] std::vector<ColumnFeature> made_features() const;
  /// Names of `made_features`; empty where the columns have none, and where pictures are described.
  [[nodiscard]] std::vector<std::string> feature_names() const;
  /// Names, or numbers from 0, of the feature columns that are left out: their values become 0.
  [[nodiscard]] std::vector<std::string> left_out() const;
};

/// Whether equal records become equal features.
[[nodiscard]] inline bool same_preparation(const PublicConstants& a, const PublicConstants& b) {
  return a.categories == b.categories && a.first_day == b.first_day && a.standardisation == b.standardisation &&
         a.missing == b.missing && a.fill == b.fill && a.scale == b.scale && a.description == b.description;
}

}  // namespace starling
