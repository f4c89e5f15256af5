/// Whole text files, and numbers in tables.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace starling {

/// Throws DataError if it cannot be read.
[[nodiscard]] std::string read_text(const std::string& path);

/// Replaces the file in one step: who reads it sees the old or the new text, never a part. Throws FailureError.
void write_text(const std::string& path, const std::string& text);

/// A number with ten digits; empty where it is unknown.
[[nodiscard]] std::string csv_field(double value);
/// With all its digits; empty where it is not finite.
[[nodiscard]] std::string csv_exact(double value);
/// A field in quotation marks.
[[nodiscard]] std::string csv_quoted(const std::string& text);
/// The same where it needs them, else as it is.
[[nodiscard]] std::string csv_text(const std::string& text);
/// The rows of a table, fields out of their quotation marks; none for a text that ends within such marks. A last line
/// without its end is a row too.
[[nodiscard]] std::optional<std::vector<std::vector<std::string>>> csv_rows(const std::string& text);

}  // namespace starling
