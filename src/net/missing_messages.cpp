#include "missing_messages.hpp"

namespace starling {

void MissingMessages::look(const std::vector<int>& awaited) {
  if (!state_.seal || Clock::now() < next_) return;
  const Clock::time_point now = Clock::now();
  next_ = now + std::chrono::seconds(1);
  for (const int r : awaited) {
    if (!state_.seals(r)) continue;
    if (state_.sent_count(r, kind_) <= state_.seal->came(kind_, r)) {
      state_.send_notice(r, Notice{.kind = NoticeKind::asks_count, .code = static_cast<std::int32_t>(kind_)});
    } else if (now - known_.try_emplace(r, now).first->second > std::chrono::seconds(2)) {
      state_.seal->refuse_silence(r);
    }
  }
}

}  // namespace starling
