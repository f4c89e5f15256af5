#include "embedded.hpp"

#include <algorithm>
#include <exception>
#include <optional>

#include "app/program.hpp"
#include "console/print.hpp"
#include "files/tell_user.hpp"
#include "run/launch.hpp"

namespace starling {

namespace {

/// Whether the words have --progress=off, or --progress off.
bool wants_silence(const std::vector<std::string>& words) {
  static const std::vector<std::string> parted{"--progress", "off"};
  return std::ranges::find(words, "--progress=off") != words.end() ||
         std::search(words.begin(), words.end(), parted.begin(), parted.end()) != words.end();
}

}  // namespace

EmbeddedResult run_embedded(const MpiSession& session, const std::vector<std::string>& words) {
  EmbeddedResult result;
  run_embedded(session.rank() == 0, words, result);
  return result;
}

void end_embedded(const MpiSession& /*session*/, const Error& error) {
  try {
    static_cast<void>(run_on_all_ranks([&](World&) -> ExitCode { throw error; }, Errors::thrown));
  } catch (const std::exception&) {  // the caller knows, and throws what it has
  }
}

bool runs_on_all_ranks(const std::vector<std::string>& words) {
  const Command* command = words.empty() ? nullptr : find_command(commands(), words.front());
  if (command == nullptr) return false;
  const bool of_parties =
      std::ranges::any_of(words, [](const std::string& word) { return word.starts_with("--parties"); });
  return command->on_all_ranks || (command->may_run_on_all && of_parties);
}

void run_embedded(bool speaks, const std::vector<std::string>& words, EmbeddedResult& result) {
  PrintedText printed;
  std::optional<Silence> silence;
  if (wants_silence(words)) silence.emplace();
  std::vector<std::string> line{"starling"};
  line.insert(line.end(), words.begin(), words.end());
  Call call;
  call.speaks = speaks;
  call.errors = Errors::thrown;
  call.note_directory = [&result](const std::string& path) { result.directory = path; };
  result.code = dispatch_program(line, commands(), call);
  result.text = printed.text();
}

}  // namespace starling
