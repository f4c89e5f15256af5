/// Public constants by which the columns of a source become the features of a model, as values.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "starling/data/settings.hpp"

namespace starling {

/// Mean and standard deviation of a column.
struct Standardisation {
  double mean = 0;
  double deviation = 1;
  [[nodiscard]] double of(double value) const { return (value - mean) / deviation; }
  [[nodiscard]] bool operator==(const Standardisation&) const = default;
};

/// The numbers that stand for the texts of a column.
struct CategoryColumn {
  std::string column;  ///< its name, or its number from 0 in the source
  std::map<std::string, double, std::less<>> values;
  [[nodiscard]] bool operator==(const CategoryColumn&) const = default;
};

/// The columns and public constants of a source, by which the model of its records applies to other records.
struct PublicConstants {
  std::vector<std::string> columns;  ///< names of the feature columns, in order; empty where the source has none
  std::size_t features = 0;          ///< number of feature columns
  std::string label;                 ///< name of the label's column; empty where it has none
  std::vector<CategoryColumn> categories;
  std::vector<Standardisation> standardisation;  ///< one per feature column; empty for none
  std::optional<Standardisation> label_standardisation;
  double scale = 1;
  ReadSettings::Features description = ReadSettings::Features::raw;
  std::vector<double> positive;  ///< labels that count as +1; empty: labels stay as they are
};

/// Whether equal records become equal features.
[[nodiscard]] inline bool same_preparation(const PublicConstants& a, const PublicConstants& b) {
  return a.categories == b.categories && a.standardisation == b.standardisation && a.scale == b.scale &&
         a.description == b.description;
}

}  // namespace starling
