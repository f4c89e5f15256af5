#include "embedded.hpp"

#include "app/console/print.hpp"
#include "app/program.hpp"
#include "app/run/last_directory.hpp"

namespace starling {

namespace {

EmbeddedResult run_and_collect(bool is_first, const std::vector<std::string>& words) {
  PrintedText printed;
  last_directory().clear();
  std::vector<std::string> line{"starling"};
  line.insert(line.end(), words.begin(), words.end());
  const int code = dispatch_program(line, commands(), {is_first, Errors::thrown});
  return {code, printed.text(), last_directory()};
}

}  // namespace

bool runs_on_all_ranks(const std::vector<std::string>& words) {
  const Command* command = words.empty() ? nullptr : find_command(commands(), words.front());
  return command != nullptr && command->on_all_ranks;
}

EmbeddedResult run_embedded(const MpiSession& session, const std::vector<std::string>& words) {
  return run_and_collect(session.rank() == 0, words);
}

EmbeddedResult run_embedded(const std::vector<std::string>& words) {
  return run_and_collect(true, words);
}

}  // namespace starling
