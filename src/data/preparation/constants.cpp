#include "data/constants.hpp"

#include <algorithm>

#include <fmt/ranges.h>

namespace starling {

std::vector<std::string> constants_files(const ReadSettings& settings) {
  std::vector<std::string> files;
  for (const ConstantsOption& option : constants_options) {
    const std::string& file = settings.*option.file;
    if (!file.empty() && !file.starts_with(values_of_columns)) files.push_back(file);
  }
  return files;
}

std::string constants_option_names() {
  std::vector<std::string_view> names;
  for (const ConstantsOption& option : constants_options) names.push_back(option.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

const CategoryColumn* PublicConstants::one_hot(std::size_t column) const {
  const auto found =
      std::ranges::find_if(categories, [&](const CategoryColumn& each) { return each.one_hot == column; });
  return found == categories.end() ? nullptr : &*found;
}

std::vector<ColumnFeature> PublicConstants::made_features() const {
  using Kind = ColumnFeature::Kind;
  std::vector<ColumnFeature> made;
  for (std::size_t column = 0; column < features; ++column) {
    if (const CategoryColumn* table = one_hot(column)) {
      std::size_t category = 0;
      for (const auto& [text, value] : table->values) {
        if (category != table->reference) made.push_back({column, Kind::category, category, "=" + text});
        ++category;
      }
    } else {
      made.push_back({column});
    }
    if (missing == ReadSettings::Missing::indicator) made.push_back({column, Kind::missing, 0, ".missing"});
  }
  return made;
}

std::vector<std::string> PublicConstants::feature_names() const {
  std::vector<std::string> names;
  if (columns.size() != features || description != ReadSettings::Features::raw) return names;
  for (const ColumnFeature& feature : made_features()) names.push_back(columns[feature.column] + feature.suffix);
  return names;
}

std::vector<std::string> PublicConstants::left_out() const {
  std::vector<std::string> names;
  for (std::size_t j = 0; j < standardisation.size(); ++j) {
    if (standardisation[j].is_left_out()) names.push_back(j < columns.size() ? columns[j] : fmt::format("{}", j));
  }
  return names;
}

}  // namespace starling
