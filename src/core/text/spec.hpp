/// Specs: names of parts on the command line and in files, `NAME[:key=value[,key=value…]]`; and tables of the parts
/// that they may name.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/text/names.hpp"

namespace starling {

/// Parses a number that fills the whole text: `1`, `0.5`, `1e-3`, `4/1`. Throws UsageError naming `what`.
[[nodiscard]] double parse_number(std::string_view text, std::string_view what);
[[nodiscard]] long long parse_integer(std::string_view text, std::string_view what);

/// The parts of a text between characters that are among `separators`: one more than such characters.
[[nodiscard]] std::vector<std::string_view> split_at(std::string_view text, std::string_view separators);

/// A key that a part takes, for help and for values given without their key, which go to the keys in this order.
struct Parameter {
  std::string key;
  std::string help;  ///< meaning, unit and default
};

/// A parsed spec. Which keys it may hold is checked by `bind`, so a misspelt key is an error, never ignored.
class Spec {
 public:
  /// Splits the text; throws UsageError for an empty name, key or value.
  [[nodiscard]] static Spec parse(std::string_view text);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& text() const { return text_; }

  /// Gives values without a key the keys of `parameters` in order; throws UsageError for keys that are not among them
  /// and for keys given twice.
  void bind(const std::vector<Parameter>& parameters);

  [[nodiscard]] std::optional<std::string> find(std::string_view key) const;
  [[nodiscard]] double number(std::string_view key, double otherwise) const;
  [[nodiscard]] long long integer(std::string_view key, long long otherwise) const;
  /// Throws UsageError when the key is missing.
  [[nodiscard]] double number(std::string_view key) const;
  [[nodiscard]] long long integer(std::string_view key) const;
  [[nodiscard]] std::string require(std::string_view key) const;

 private:
  struct Item {
    std::string key;
    std::string value;
  };
  std::string text_;
  std::string name_;
  std::vector<Item> items_;
};

/// `Part` is the type that the family makes. `Args` are the arguments of its makers beside the spec.
template <class Part, class... Args>
class Table {
 public:
  struct Row {
    std::string name;
    std::string help;
    std::vector<Parameter> parameters;
    std::unique_ptr<Part> (*make)(const Spec&, Args...);
  };

  Table(std::string family, std::vector<Row> rows) : family_(std::move(family)), rows_(std::move(rows)) {}

  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  /// The table with one more member.
  [[nodiscard]] Table with(Row row) const {
    Table more = *this;
    more.rows_.push_back(std::move(row));
    return more;
  }

  /// Makes the part that the spec text names; throws UsageError listing the known names.
  [[nodiscard]] std::unique_ptr<Part> make(std::string_view text, Args... args) const {
    Spec spec = Spec::parse(text);
    for (const Row& row : rows_) {
      if (row.name != spec.name()) continue;
      spec.bind(row.parameters);
      return row.make(spec, std::forward<Args>(args)...);
    }
    throw UsageError(unknown_name(family_, spec.name(), names_in(rows_)));
  }

  [[nodiscard]] std::string names() const { return fmt::format("{}", fmt::join(names_in(rows_), ", ")); }

  /// One line per member, for --help.
  [[nodiscard]] std::string help() const {
    std::string result;
    for (const Row& row : rows_) {
      std::string head = row.name;
      for (std::size_t i = 0; i < row.parameters.size(); ++i) {
        head += (i == 0 ? ":" : ",") + row.parameters[i].key + "=…";
      }
      result += head.size() <= 28 ? fmt::format("  {:<28} {}\n", head, row.help)
                                  : fmt::format("  {}\n  {:<28} {}\n", head, "", row.help);
      for (const Parameter& parameter : row.parameters) {
        result += fmt::format("  {:<28}   {}: {}\n", "", parameter.key, parameter.help);
      }
    }
    return result;
  }

 private:
  std::string family_;
  std::vector<Row> rows_;
};

}  // namespace starling
