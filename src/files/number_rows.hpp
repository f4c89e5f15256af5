/// Small files of numbers in rows and columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace starling {

/// The finite numbers of a line, separated by commas. Throws UsageError that begins with `where`.
[[nodiscard]] std::vector<double> parse_number_row(std::string_view line, const std::string& where);

/// Reads rows of finite numbers, separated by commas, all of one length. Empty lines and lines that begin with # are
/// skipped. Throws UsageError naming file and line; `purpose` names the file in a message that it cannot be read.
[[nodiscard]] std::vector<std::vector<double>> read_number_rows(const std::string& path, const std::string& purpose);

}  // namespace starling
