/// Long passes over files: how far they are, and how a signal ends them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "options/options.hpp"

namespace starling {

/// Whether SIGINT, SIGTERM or SIGHUP has come since `stoppable` began.
[[nodiscard]] bool stop_asked();

/// Throws the error with which such a signal ends a command.
[[noreturn]] void throw_stopped();

/// Runs `work`; SIGINT, SIGTERM and SIGHUP end it through an exception that takes temporary files away, and the exit
/// code says that nothing was harmed.
int stoppable(const std::function<int()>& work);

/// Runs `work` on the terminal of the owner of the data: as `stoppable`, and errors show the values of faulty records.
int run_for_owner(const std::function<int()>& work);

/// Shows on stderr how far a long pass is: a line that is written over on a terminal, else a line after 2, 4, 8, …
/// seconds. Also where signals are looked for.
class Progress {
 public:
  explicit Progress(ProgressChoice choice);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A new pass; `bytes` are those that it has written so far, `counted` what a tick stands for.
  void begin(const std::string& what, std::function<std::uint64_t()> bytes, const std::string& counted = "records");
  /// After each record, or after so many. Throws as throw_stopped does.
  void tick(std::int64_t count = 1);
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  void show();
  void clear();

  bool shown_;
  bool live_;
  bool forced_;
  bool open_ = false;
  std::string what_;
  std::string counted_;
  std::function<std::uint64_t()> bytes_;
  Clock::time_point start_;
  double next_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace starling
