#include "core/text/names.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>

#include <fmt/format.h>

namespace starling {

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

}  // namespace

std::size_t name_distance(std::string_view a, std::string_view b) {
  // Row i has the distances of the first i letters of `a` from each prefix of `b`.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& known) {
  constexpr std::size_t longest = 100;  // a longer text is no misspelt name, and the distance takes quadratic time
  if (name.size() > longest) return std::nullopt;
  const std::string misspelt = lower(name);
  std::optional<std::string> nearest;
  std::size_t least = longest;
  for (const std::string& each : known) {
    if (each.size() > longest) continue;
    const std::size_t far = name_distance(misspelt, lower(each));
    if (3 * far > std::max(misspelt.size(), each.size()) || far >= least) continue;
    nearest = each;
    least = far;
  }
  return nearest;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known, std::string_view prefix,
                         std::string otherwise) {
  const auto nearest = nearest_name(name, known);
  return nearest ? fmt::format("Did you mean {}{}?", prefix, *nearest) : std::move(otherwise);
}

std::string unknown_name(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
  return fmt::format("unknown {} '{}': known are {}. {}", what, name, fmt::join(known, ", "),
                     did_you_mean(name, known, "", "Choose one of them."));
}

}  // namespace starling
