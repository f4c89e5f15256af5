#pragma once

#include <string>

namespace starling {

/// Version and git revision, as "0.1.0 (abc1234)".
[[nodiscard]] std::string version();
/// The text of --version: the program and the libraries that it is built on.
[[nodiscard]] std::string version_text();

}  // namespace starling
