/// Texts that are neither tables nor graphs, told by their beginning: JSON, XML, ARFF and the like.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace starling {

/// A kind of text that is not read.
struct ForeignText {
  std::string_view name;     ///< with its article
  std::string_view reading;  ///< Python that makes a data frame of the file {0}; empty where none does
  std::string_view remedy;   ///< what to do where no data frame can be made
};

/// The kind of the text that begins with `head`, a file's first bytes or lines. None for tables, for lists of edges and
/// for SVMlight.
[[nodiscard]] std::optional<ForeignText> foreign_text(std::string_view head);

/// Throws DataError, with the command that makes a table of it, if the file `path` with the beginning `head` is such a
/// text.
void refuse_foreign_records(std::string_view head, const std::string& path);

/// Throws UsageError, with what makes a topology of it, if the file `path` is such a text.
void refuse_foreign_graph(std::string_view text, const std::string& path);

}  // namespace starling
