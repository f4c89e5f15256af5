/// Output of commands that print a text and end.
#pragma once

#include <string_view>

namespace starling {

/// Writes the text to standard output. Throws FailureError if it cannot be written.
void print(std::string_view text);

}  // namespace starling
