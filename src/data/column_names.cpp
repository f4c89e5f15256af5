#include "data/column_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include <fmt/ranges.h>

#include "files/text_files.hpp"

namespace starling {

namespace {

bool same_but_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

bool is_row_number_name(std::string_view name) {
  constexpr std::array<std::string_view, 5> usual{"id", "index", "row", "rownames", "unnamed: 0"};
  return std::ranges::any_of(usual, [&](std::string_view one) { return same_but_case(name, one); });
}

std::string note_on_name(const std::string& name) {
  if (is_label_name(name)) {
    return fmt::format(
        "feature '{0}' is called as a label is, and another column is the label: no feature should give the label away "
        "(--drop '{1}', or --label '{0}' if that is the label)",
        name, csv_text(name));
  }
  if (is_row_number_name(name)) {
    return fmt::format("feature '{0}' is called as row numbers are, which a model should not see (--drop '{1}')", name,
                       csv_text(name));
  }
  return name.empty()
             ? "a feature has no name, as the row numbers that data frames write: a model should not see these "
               "(--drop 0 if it is the first column)"
             : "";
}

}  // namespace

bool is_label_name(std::string_view name) {
  return same_but_case(name, "y") || same_but_case(name, "label");
}

std::vector<std::string> notes_on_names(const std::vector<std::string>& names) {
  std::vector<std::string> notes;
  for (const std::string& name : names) {
    if (std::string note = note_on_name(name); !note.empty()) notes.push_back(std::move(note));
  }
  return notes;
}

std::vector<std::string> notes_on_codes(const PublicConstants& constants) {
  std::vector<std::string> named;
  for (const CategoryColumn& table : constants.categories) {
    std::set<double> values;
    for (const auto& [text, value] : table.values) values.insert(value);
    if (table.one_hot || table.column == constants.label || values.size() < 3) continue;
    named.push_back(fmt::format("'{}' ({:g} to {:g})", table.column, *values.begin(), *values.rbegin()));
  }
  if (named.empty()) return {};
  return {
      fmt::format("texts become numbers, as if they had an order: {}. Where they have none, --encode onehot:FILE "
                  "makes a feature of each",
                  fmt::join(named, ", "))};
}

}  // namespace starling
