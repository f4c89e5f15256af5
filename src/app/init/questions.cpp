#include <iostream>
#include <unistd.h>

#include "console/pass.hpp"
#include "console/print.hpp"
#include "core/check.hpp"
#include "files/text.hpp"
#include "init.hpp"

namespace starling {

bool can_ask() {
  return ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0;
}

void ask(const std::string& question, const std::string& initial, const std::function<void(const std::string&)>& take) {
  while (true) {
    print(question + (initial.empty() ? ": " : fmt::format(" [{}]: ", initial)));
    std::string line;
    const bool read = static_cast<bool>(std::getline(std::cin, line));
    if (stop_asked()) throw_stopped();
    check(read, "the input ended before the last answer. Nothing was written; start again, or give options.");
    const std::string answer(trimmed(line));
    if (answer.empty() && initial.empty()) continue;
    try {
      return take(answer.empty() ? initial : answer);
    } catch (const UsageError& error) {
      print(fmt::format("  {}\n", error.what()));
    }
  }
}

}  // namespace starling
