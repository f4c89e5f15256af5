/// Handlers of signals, in place of those that were there before.
#pragma once

#include <csignal>
#include <initializer_list>
#include <map>

namespace starling {

/// Handlers while this object lives; afterwards those of before are back.
class SignalHandlers {
 public:
  SignalHandlers() = default;
  SignalHandlers(std::initializer_list<int> signals, void (*handler)(int)) { set(signals, handler); }
  ~SignalHandlers() { restore(); }
  SignalHandlers(const SignalHandlers&) = delete;
  SignalHandlers& operator=(const SignalHandlers&) = delete;

  /// `flags` are those of sigaction. SIGHUP stays ignored where it is, as by nohup.
  void set(std::initializer_list<int> signals, void (*handler)(int), int flags = 0);
  void restore();
  /// The handlers stay after this object.
  void keep() { before_.clear(); }

 private:
  std::map<int, struct sigaction> before_;
};

}  // namespace starling
