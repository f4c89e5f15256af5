/// Questions to a user on a terminal.
#pragma once

#include <functional>
#include <string>

namespace starling {

/// Whether standard input and output are a terminal, so that a question would be seen and answered.
[[nodiscard]] bool can_ask();

/// Prints a question with its default (empty: none) and hands each answer to `take` until it throws no UsageError,
/// whose text is printed. Throws UsageError where the input ends, and as throw_stopped does at a signal.
void ask(const std::string& question, const std::string& initial, const std::function<void(const std::string&)>& take);

}  // namespace starling
