/// Reading and writing of whole text files, and fields of CSV tables.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace starling {

/// Content of a file. Throws DataError if the file cannot be read.
[[nodiscard]] std::string read_text(const std::string& path);

/// The regular file that text for `path` makes or replaces: the one that a link leads to. None for a pipe, a terminal
/// or another character device, which nothing may replace: text goes into it as it comes. Throws UsageError for what
/// takes no text: a folder, a block device, a socket, or a link to nothing.
[[nodiscard]] std::optional<std::string> replaced_file(const std::string& path);

/// Throws UsageError if the file is there and its text does not begin as those that replace it: it would be lost, as
/// records that are named by mistake.
void require_replaceable(const std::string& path, std::string_view beginning);

/// Replaces the file in one step: readers see the old or the new text, never a part. A pipe or a character device gets
/// the text. Throws FailureError, and UsageError as `replaced_file`.
void write_text(const std::string& path, const std::string& text);

/// A number with ten digits; empty if the number is unknown.
[[nodiscard]] std::string csv_field(double value);
/// A number with all its digits; empty if the number is not finite.
[[nodiscard]] std::string csv_exact(double value);
/// A field in quotation marks.
[[nodiscard]] std::string csv_quoted(const std::string& text);
/// A field in quotation marks if the text needs them, else unchanged.
[[nodiscard]] std::string csv_text(const std::string& text);
/// The parts of a list between characters that are among `separators`. A part that begins with a quotation mark ends
/// behind the mark that closes it, so that it may hold separators; it keeps its marks.
[[nodiscard]] std::vector<std::string_view> split_list_at(std::string_view text, std::string_view separators);
/// The text of such a part without blanks around it: of one in quotation marks, what they enclose.
[[nodiscard]] std::string text_of_part(std::string_view part);
/// Rows of a CSV table, with fields unquoted. None for a text that ends within quotation marks. A last line without a
/// line end is a row too.
[[nodiscard]] std::optional<std::vector<std::vector<std::string>>> csv_rows(const std::string& text);

}  // namespace starling
