/// Messages of runs that a signal ends before their first round: what has been released, and how the run can go on.
#pragma once

#include <string>

namespace starling {

/// Whether --lost or --join has changed the clients of a resumed run: not yet, perhaps (a signal came meanwhile), or
/// yes.
enum class ClientChange { ahead, under_way, done };

/// The message of a run in `directory` that was resumed. `option` is --lost or --join; empty without either.
[[nodiscard]] std::string early_stop_of_resumed(const std::string& command, const std::string& directory,
                                                const std::string& option, ClientChange change);

/// The message of a new run. `directory` is empty if --resume cannot begin the run there. `released`: histograms have
/// been released.
[[nodiscard]] std::string early_stop_of_new(const std::string& command, const std::string& directory, bool released);

}  // namespace starling
