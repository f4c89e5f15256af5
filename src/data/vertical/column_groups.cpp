#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/check.hpp"
#include "core/text/names.hpp"
#include "data/column_roles.hpp"
#include "data/vertical/vertical.hpp"
#include "files/text.hpp"
#include "files/text_files.hpp"

namespace starling {

namespace {

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts = split_list_at(text, separators);
  for (std::string_view& part : parts) part = trimmed(part, " ");
  return parts;
}

/// Deals columns out, each once.
class Dealer {
 public:
  Dealer(std::string_view text, std::size_t features, const std::vector<std::string>& names)
      : text_(text), columns_{"--columns", features, names}, owners_(features) {}

  [[nodiscard]] std::vector<std::size_t> deal(std::size_t party, std::string_view group) {
    check(!group.empty(), "--columns '{}': group {} (from 1) is empty: a party without columns knows nothing. {}.",
          text_, party + 1, "Give it columns");
    std::vector<std::size_t> columns;
    for (const std::string_view item : split(group, ",")) {
      const auto [first, last] = range_of(item);
      for (std::size_t column = first; column <= last; ++column) take(party, column, columns);
    }
    return columns;
  }

 private:
  void take(std::size_t party, std::size_t column, std::vector<std::size_t>& columns) {
    const std::size_t before = owners_[column].value_or(party);
    check(!owners_[column], "--columns '{}': {} is given to party {} and to party {}, from 1: {}. Give it once.", text_,
          columns_.place(column), before + 1, party + 1, "a column is one party's");
    owners_[column] = party;
    columns.push_back(column);
  }

  [[nodiscard]] std::pair<std::size_t, std::size_t> range_of(std::string_view item) const {
    check(!item.empty(), "--columns '{}': nothing stands between two commas: columns are expected. Remove one.", text_);
    if (const auto column = find(item)) return {*column, *column};
    const std::size_t dash = item.starts_with('"') ? std::string_view::npos : item.find('-');
    if (dash != std::string_view::npos && dash > 0) {
      const auto first = column_number(std::string(item.substr(0, dash)), columns_.count);
      const auto last = column_number(std::string(item.substr(dash + 1)), columns_.count);
      check(!first || !last || *first <= *last, "--columns '{}': the range {} runs backwards: no column is in it. {}.",
            text_, item, "Turn it round");
      if (first && last) return {*first, *last};
    }
    throw UsageError(fmt::format("--columns '{}': no column '{}' among the features: {}. {}", text_, item,
                                 columns_.list(), did_you_mean(item, columns_.names, "", "Give one of them.")));
  }

  [[nodiscard]] std::optional<std::size_t> find(std::string_view item) const {
    const std::string text = text_of_part(item);
    const auto named = std::find(columns_.names.begin(), columns_.names.end(), text);
    if (named != columns_.names.end()) return columns_.find(text, "--columns");
    return column_number(text, columns_.count);
  }

  std::string_view text_;
  ColumnNames columns_;  // the features
  std::vector<std::optional<std::size_t>> owners_;
};

}  // namespace

std::vector<std::vector<std::size_t>> parse_column_groups(std::string_view text, std::size_t parties,
                                                          std::size_t features, const std::vector<std::string>& names) {
  const std::vector<std::string_view> groups = split(text, "/|");
  check(groups.size() == parties,
        "--columns '{}': {} groups of columns for {} parties: each party has one. Separate them by /.", text,
        groups.size(), parties);
  Dealer dealer(text, features, names);
  std::vector<std::vector<std::size_t>> columns;
  for (std::size_t party = 0; party < parties; ++party) columns.push_back(dealer.deal(party, groups[party]));
  return columns;
}

}  // namespace starling
