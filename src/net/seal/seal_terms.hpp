/// What ranks need to seal the messages between them (World::seal).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/memory/wipe.hpp"

namespace starling {

/// 256 secret bits; wiped when they go.
struct SealKey {
  std::array<unsigned char, 32> bytes{};
  ~SealKey() { wipe(bytes); }
};

/// Keys and names, by rank. Keys of a pair of ranks are equal at both ends, and those of its two directions differ. The
/// same keys must never serve a second World.
struct SealTerms {
  std::vector<SealKey> to;                ///< for messages to a rank
  std::vector<SealKey> from;              ///< for messages from a rank
  std::vector<std::string> names;         ///< of ranks, for messages: "clients 0–1 (rank 0)"
  std::vector<std::string> hosts;         ///< equal for ranks of one host
  std::array<unsigned char, 32> start{};  ///< names the start of the run; the same on all ranks
  bool within_hosts = false;              ///< messages between ranks of one host are sealed too
  bool by_aes = false;                    ///< by AES-256-GCM; the same on all ranks
};

/// Whether this processor has instructions for AES-256-GCM.
[[nodiscard]] bool has_aes();

}  // namespace starling
