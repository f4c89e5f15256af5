#include "embedded.hpp"

#include "app/console/print.hpp"
#include "app/program.hpp"

namespace starling {

EmbeddedResult run_embedded(const MpiSession& session, const std::vector<std::string>& words) {
  PrintedText printed;
  std::vector<std::string> line{"starling"};
  line.insert(line.end(), words.begin(), words.end());
  EmbeddedResult result;
  Call call;
  call.speaks = session.rank() == 0;
  call.errors = Errors::thrown;
  call.note_directory = [&result](const std::string& path) { result.directory = path; };
  result.code = dispatch_program(line, commands(), call);
  result.text = printed.text();
  return result;
}

}  // namespace starling
