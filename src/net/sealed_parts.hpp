// Collective communication by sealed messages between pairs of ranks. Internal to the net module.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "net/state.hpp"

namespace starling {

using BytesOfRank = std::vector<std::byte>;

/// Sends `to[r]` to each rank r of `receivers`, and returns what comes from each rank of `senders`, by rank; empty for
/// all others. This rank may be among both. All ranks call it in the same order, and each names as senders those that
/// name it as a receiver. `what` is named when ranks do not come.
[[nodiscard]] std::vector<BytesOfRank> swap_parts(World::State& state, const std::vector<int>& receivers,
                                                  const std::vector<std::span<const std::byte>>& to,
                                                  const std::vector<int>& senders, const char* what);

/// All ranks of a run.
[[nodiscard]] std::vector<int> all_ranks(const World::State& state);

/// The same bytes to and from each of these.
[[nodiscard]] std::vector<BytesOfRank> gather_parts(World::State& state, std::span<const std::byte> own,
                                                    const std::vector<int>& receivers, const std::vector<int>& senders,
                                                    const char* what);

/// Elements of a part. The sender's length counts.
template <class Part>
[[nodiscard]] Part part_from(const BytesOfRank& bytes) {
  Part part(bytes.size() / sizeof(typename Part::value_type), typename Part::value_type());
  if (!bytes.empty()) std::memcpy(part.data(), bytes.data(), part.size() * sizeof(typename Part::value_type));
  return part;
}

}  // namespace starling
