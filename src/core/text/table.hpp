/// Table of a family of parts (losses, mirror maps, …). Parsing, error texts, `--help` and the conformance tests all
/// read the table, so that a new member is one row in one file.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/text/names.hpp"
#include "core/text/spec.hpp"

namespace starling {

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
