#include "pass.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/record_error.hpp"
#include "files/tell_user.hpp"
#include "files/terminal.hpp"
#include "net/signal_handlers.hpp"

namespace starling {

namespace {

volatile std::sig_atomic_t signalled = 0;

void ask_to_stop(int) {
  signalled = 1;
}

}  // namespace

bool stop_asked() {
  return signalled != 0;
}

void throw_stopped() {
  throw Error(ExitCode::stopped_safely, "stopped by a signal: no file was written. Start again.");
}

int stoppable(const std::function<int()>& work) {
  signalled = 0;
  const SignalHandlers handlers({SIGINT, SIGTERM, SIGHUP}, ask_to_stop);
  try {
    return work();
  } catch (const Error&) {
    if (stop_asked()) throw_stopped();
    throw;
  }
}

int run_for_owner(const std::function<int()>& work) {
  return stoppable([&] { return showing_values(work); });
}

Progress::Progress(ProgressChoice choice)
    : shown_(choice != ProgressChoice::off),
      live_(choice == ProgressChoice::automatic && Terminal::of_standard_error()),
      forced_(choice == ProgressChoice::on) {}

void Progress::begin(const std::string& what, std::function<std::uint64_t()> bytes, const std::string& counted) {
  what_ = what;
  counted_ = counted;
  bytes_ = std::move(bytes);
  start_ = Clock::now();
  next_ = live_ ? 0.5 : 2;
  count_ = 0;
}

void Progress::tick(std::int64_t count) {
  constexpr std::int64_t between = 256;
  const std::int64_t before = count_ / between;
  count_ += count;
  if (count_ / between == before) return;
  if (stop_asked()) throw_stopped();
  if (shown_ && seconds() >= next_) show();
}

void Progress::end() {
  if (forced_) show();
  clear();
  bytes_ = nullptr;
}

void Progress::show() {
  const double passed = seconds();
  std::string line = fmt::format("{}: {} {}", what_, count_, counted_);
  if (bytes_) {
    const double megabytes = static_cast<double>(bytes_()) / 1e6;
    line += fmt::format(", {:.1f} MB, {:.0f} MB/s", megabytes, megabytes / std::max(passed, 1e-3));
  }
  tell_user("{}{}{}", live_ ? "\r" : "", line, live_ ? "\033[K" : "\n");
  std::fflush(stderr);
  open_ = live_;
  next_ = live_ ? passed + 0.2 : std::max(next_ * 2, 2.0);
}

void Progress::clear() {
  if (open_) tell_user("\r\033[K");
  open_ = false;
}

}  // namespace starling
