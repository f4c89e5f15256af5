/// The run directory for a process that embeds starling, which must find it on every rank and after an error.
#pragma once

#include <string>

namespace starling {

/// Path of the run directory that this process has made or taken up since the text was last cleared; empty for none.
[[nodiscard]] std::string& last_directory();

}  // namespace starling
