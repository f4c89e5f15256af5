#include "embedded.hpp"

#include "app/console/print.hpp"
#include "app/program.hpp"

namespace starling {

EmbeddedResult run_embedded(const MpiSession& session, const std::vector<std::string>& words) {
  PrintedText printed;
  std::vector<std::string> line{"starling"};
  line.insert(line.end(), words.begin(), words.end());
  const int code = dispatch_program(line, commands(), {session.rank() == 0, Errors::thrown});
  return {code, printed.text()};
}

}  // namespace starling
