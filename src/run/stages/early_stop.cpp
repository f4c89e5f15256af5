#include <fmt/format.h>

#include "run_home.hpp"

namespace starling {

std::string early_stop_of_resumed(const std::string& command, const std::string& directory, const std::string& option,
                                  ClientChange change) {
  const std::string stopped =
      "stopped by a signal before the run went on: this start has released nothing, and what the run released before "
      "stays charged";
  const std::string resume = fmt::format("starling {} --resume {}", command, directory);
  if (option.empty()) return fmt::format("{}. {} goes on", stopped, resume);
  if (change == ClientChange::done) {
    return fmt::format("{}. Its clients have changed already: {} goes on with them, without {}", stopped, resume,
                       option);
  }
  if (change == ClientChange::under_way) {
    return fmt::format(
        "{}. Its clients have changed if {}/run-id has a new line {}: {} then goes on with them, and else "
        "with {} it changes them",
        stopped, directory, option == "--lost" ? "lost-after" : "joined-after", resume, option);
  }
  return fmt::format("{}. Its clients have not changed: {} goes on as before, and with {} it changes them", stopped,
                     resume, option);
}

std::string early_stop_of_new(const std::string& command, const std::string& directory, bool released) {
  if (released) {
    return "stopped by a signal before the first round: histograms have been released, as the ledger says. Start the "
           "run again, with another --output: it pays for them again, unless --noise-key names files and there is "
           "--ledger.";
  }
  const std::string stopped = "stopped by a signal before the first round: nothing has been released.";
  if (directory.empty()) return stopped + " Start the run again.";
  return fmt::format("{} starling {} --resume {} begins the run", stopped, command, directory);
}

}  // namespace starling
