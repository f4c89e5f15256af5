/// Errors: one exception type per exit code, and `check`, which throws them with a formatted message.
///
/// A message reads "problem: why. What to do." It names the value, the place and the remedy.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace starling {

/// Exit codes of the program.
enum class ExitCode : int {
  done = 0,
  refuted = 1,          ///< a check, audit or verification says no
  usage = 2,            ///< bad usage, configuration or topology
  data = 3,             ///< bad data
  budget = 4,           ///< the privacy budget would be exceeded before anything was done
  failure = 5,          ///< a peer or an input/output operation failed
  stopped_safely = 75,  ///< stopped on a signal, state safe
};

/// The most bytes that a message has.
inline constexpr std::size_t longest_message = 2'000;

/// The text in the form that messages show. Control characters, which damaged files may contain, become '?'. What does
/// not fit into `longest_message` is cut off, between characters, and an ellipsis says so.
[[nodiscard]] std::string one_line(std::string text);

/// Base of all errors that the library throws. An error carries the exit code that main returns.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(one_line(message)), code_(code) {}
  [[nodiscard]] ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// Exit code 2.
struct UsageError : Error {
  explicit UsageError(const std::string& message) : Error(ExitCode::usage, message) {}
};
/// Exit code 3.
struct DataError : Error {
  explicit DataError(const std::string& message) : Error(ExitCode::data, message) {}
};
/// Exit code 4.
struct BudgetError : Error {
  explicit BudgetError(const std::string& message) : Error(ExitCode::budget, message) {}
};
/// Exit code 5.
struct FailureError : Error {
  explicit FailureError(const std::string& message) : Error(ExitCode::failure, message) {}
};
/// An error that another rank met and has reported. This rank ends silently with the same code.
struct PeerError : Error {
  PeerError(ExitCode code, const std::string& message) : Error(code, message) {}
};

/// Throws `E` with the formatted message.
template <class E, class... Args>
[[noreturn, gnu::noinline, gnu::cold]] void fail(fmt::format_string<Args...> message, Args&&... args) {
  throw E(fmt::format(message, std::forward<Args>(args)...));
}

/// Throws `E` with the formatted message unless `condition` holds. The arguments are evaluated in either case. Where
/// their evaluation is expensive, write `if (…) fail<E>(…)`.
template <class E = UsageError, class... Args>
[[gnu::always_inline]] inline void check(bool condition, fmt::format_string<Args...> message, Args&&... args) {
  if (!condition) [[unlikely]] {
    fail<E>(message, std::forward<Args>(args)...);
  }
}

}  // namespace starling
