/// Words of a command line as text.
#pragma once

#include <string>
#include <vector>

namespace starling {

/// The words as a shell would take them again.
[[nodiscard]] std::string quoted(const std::vector<std::string>& words);

}  // namespace starling
