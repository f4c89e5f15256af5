#include "net/signal_handlers.hpp"

namespace starling {

void SignalHandlers::set(std::initializer_list<int> signals, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  for (const int signal : signals) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (signal == SIGHUP && before.sa_handler == SIG_IGN) continue;  // nohup
    sigaction(signal, &action, nullptr);
    before_.emplace(signal, before);  // of several calls the first one found what was there
  }
}

void SignalHandlers::restore() {
  for (const auto& [signal, before] : before_) sigaction(signal, &before, nullptr);
  before_.clear();
}

}  // namespace starling
