/// Whole text files, and numbers in tables.
#pragma once

#include <string>

namespace starling {

/// Throws DataError if it cannot be read.
[[nodiscard]] std::string read_text(const std::string& path);

/// Replaces the file in one step: who reads it sees the old or the new text, never a part. Throws FailureError.
void write_text(const std::string& path, const std::string& text);

/// A number with ten digits; empty where it is unknown.
[[nodiscard]] std::string csv_field(double value);

}  // namespace starling
