/// Messages of held-out records, which all parties predict together.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "codec/quantiser.hpp"
#include "core/boundary.hpp"
#include "data/vertical/vertical.hpp"
#include "net/root/root.hpp"

namespace starling {

/// The messages of parties about held-out records.
struct HeldOutMessages {
  std::vector<std::size_t> widths;  ///< numbers of a record that each party sends, the same on all ranks
  const Quantiser& quantiser;
  /// M × width numbers of the k-th party of this rank, for the M records that the stream has loaded.
  std::function<const Secret<Vector>&(std::size_t k)> rows;
  /// Called on rank 0 with all parties' numbers of M records: M × width for each party.
  std::function<void(const std::vector<Vector>& received)> take;
};

/// Makes one pass over records that their owners have declared public, and brings their rows to rank 0 through `root`,
/// whose layout has the fusion centre as client 0 and party k as client k. All ranks have as many records.
/// **Collective.**
void send_held_out(Root& root, VerticalStream& held_out, const HeldOutMessages& messages);

/// Decodes the messages of all parties, which send `widths` numbers of each of `count` records.
void decode_rows(std::span<const std::byte> bytes, const Quantiser& quantiser, const std::vector<std::size_t>& widths,
                 std::size_t count, std::vector<Vector>& rows);

}  // namespace starling
