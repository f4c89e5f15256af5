// Search for sealed messages that were sent and did not come. Internal to the net module.
#pragma once

#include <chrono>
#include <map>
#include <vector>

#include "net/state.hpp"

namespace starling {

/// Questions of a rank that waits for sealed messages, outside of rounds: how many has the other rank sent? Whoever has
/// sent a message answers by a notice. If the message does not come behind the answer, somebody has left it out.
class MissingMessages {
 public:
  MissingMessages(World::State& state, MessageKind kind) : state_(state), kind_(kind) {}
  /// Asks each of these ranks once a second, while nothing has come from them. Throws FailureError that names both ends
  /// if a message was sent more than two seconds ago.
  void look(const std::vector<int>& awaited);

 private:
  using Clock = std::chrono::steady_clock;
  World::State& state_;
  MessageKind kind_;
  Clock::time_point next_ = Clock::now() + std::chrono::seconds(1);
  std::map<int, Clock::time_point> known_;  ///< since when it is known that a rank has sent what is awaited
};

}  // namespace starling
