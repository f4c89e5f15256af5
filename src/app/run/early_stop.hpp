/// Messages of runs that a signal ends before their first round: what has been released, and how the run can go on.
#pragma once

#include <string>

namespace starling {

/// How far --lost or --join has come in a start that goes on with a run.
enum class ClientChange { ahead, under_way, done };

/// A start that goes on with the run in `directory`. `option` is --lost or --join; empty without either.
[[nodiscard]] std::string early_stop_of_resumed(const std::string& command, const std::string& directory,
                                                const std::string& option, ClientChange change);

/// A new run. `directory` is empty if --resume cannot begin the run there. `released`: histograms have been released.
[[nodiscard]] std::string early_stop_of_new(const std::string& command, const std::string& directory, bool released);

}  // namespace starling
