/// Messages about misspelt names, with the known name that was probably meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace starling {

/// The Damerau-Levenshtein distance of two names (optimal string alignment): how many letters are put in, left out,
/// changed, or swapped with their neighbours. Time and memory grow with the product of the lengths.
[[nodiscard]] std::size_t name_distance(std::string_view a, std::string_view b);

/// The known name with the least distance from a misspelt one; capitals count as small letters. None if the distance is
/// above a third of the longer name's length.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& known);

/// A question such as "Did you mean --epsilon?", with `prefix` before the nearest name; `otherwise` if none is near.
[[nodiscard]] std::string did_you_mean(std::string_view name, const std::vector<std::string>& known,
                                       std::string_view prefix, std::string otherwise);

/// The names of rows of a table.
template <class Rows>
std::vector<std::string> names_in(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

/// "unknown loss 'logistc' (known: hinge, logistic). Did you mean logistic?"
[[nodiscard]] std::string unknown_name(std::string_view what, std::string_view name,
                                       const std::vector<std::string>& known);

}  // namespace starling
