/// Text files: encoding and line ends. All text is UTF-8, in lines that end in a line feed or in a carriage return and
/// a line feed; a byte order mark of UTF-8 may begin a file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace starling {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// The text without blanks at its beginning and end.
[[nodiscard]] std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\v\f\n");

/// Whether a file begins with a byte order mark of UTF-16 or UTF-32.
[[nodiscard]] bool begins_as_utf16(std::string_view head);

/// Fault of a line (without its end) that is not valid text, with the remedy, for a message "PLACE: FAULT". The fault
/// names the byte's position in the line, from 1, and no content. None if the line is valid.
[[nodiscard]] std::optional<std::string> text_fault(std::string_view line);

/// Lines of a text, without their ends and without a byte order mark. Throws UsageError "NAME:LINE: FAULT".
[[nodiscard]] std::vector<std::string> text_lines(std::string_view text, const std::string& name);

/// Lines of a file that an option names. `purpose` names the file in messages, as in "--start 'x.csv'". Throws
/// UsageError as text_lines does, and if the file cannot be read.
[[nodiscard]] std::vector<std::string> read_lines(const std::string& path, const std::string& purpose);

}  // namespace starling
