/// Records of parties matched in private: nobody shows ids to others (docs/methods/matching.md).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/vertical/vertical.hpp"
#include "net/agreement.hpp"
#include "options/option.hpp"
#include "run/inputs/rank_key.hpp"

namespace starling {

/// The processes of a matching, and its place in the run. Client 0 compares blinded ids; client k is party k.
struct MatchingPlace {
  World& world;
  Agreement& agreement;
  const Layout& layout;
  RankKey& key;
  const Introductions* introductions = nullptr;  ///< null: members have not introduced themselves
  std::uint64_t seed = 0;                        ///< public; other seeds give other orders
  ProgressChoice progress = ProgressChoice::off;
};

/// Finds the records that all parties have, and puts them into an order that all parties know and rank 0 does not.
/// `what` names the data ("training"), other ones in each call. Sets `shape.records`, `shape.rounds`, `matched_rows`,
/// and for hosted parties `ids`. `labels_at` is the party with the labels, from 0. **Collective.** Throws DataError if
/// no record is in all files, and FailureError if parties find other records.
void match_in_private(const MatchingPlace& place, const std::string& what, std::size_t labels_at,
                      VerticalDataset& dataset);

/// Ranks that learn the labels of matched records.
enum class LabelReceivers { nobody, first_rank, all_ranks };

/// Ways in which labels leave the party that has them: `publish` of a class of privacy/without_noise.hpp.
using LabelRelease = std::function<void(const Secret<Vector>& labels, Released<Vector>& released)>;

/// Gives the labels of matched records, in their order, to the receivers, and the constants of the labels to rank 0.
/// **Collective.**
void hand_labels_over(const MatchingPlace& place, std::size_t labels_at, LabelReceivers receivers,
                      const LabelRelease& release, VerticalDataset& dataset);

/// The rank that has the labels' party.
[[nodiscard]] int rank_of_labels(const Layout& layout, std::size_t labels_at);

}  // namespace starling
