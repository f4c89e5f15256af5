/// Messages on standard error.
#pragma once

#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace starling {

/// Writes the formatted text to standard error. A text that cannot be written is left out: a full disk, a closed stream
/// or a pipe that nobody reads must not end a run.
template <typename... Args>
void tell_user(fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

}  // namespace starling
