/// The search for the comparators of single rounds, on one rank.
#pragma once

#include "optimise/minimise.hpp"
#include "regret/evaluation_pass.hpp"

namespace starling {

/// The best model of a round, as it travels.
struct RoundComparator {
  Round round = 0;
  Minimum best;  ///< value and certificate are means over the clients that played
  bool tried_twice = false;
  bool elsewhere = false;  ///< from the second place the search came to another model
  /// As numbers: unpacked by `unpack`.
  void pack(Vector& numbers) const;
  /// Reads a comparator of dimension d from numbers[next] on; `next` moves behind it.
  [[nodiscard]] static RoundComparator unpack(View numbers, std::size_t d, std::size_t& next);
};

/// The records of a client in the rounds [from, to), as numbers; rounds that it did not play are marked.
[[nodiscard]] Secret<Vector> pack_rounds(const ReplayedRecords& records, std::size_t k, Round from, Round to);

/// Batches of the clients that played in a round, in client order.
using RoundBatches = std::vector<Batch>;
/// Appends to the rounds' lists what the clients of one rank have packed.
void unpack_rounds(View numbers, std::vector<RoundBatches>& rounds);

/// Finds comparators of rounds.
class RoundSolver {
 public:
  explicit RoundSolver(const EvaluationPass& pass);
  /// `twice`: searches from a second place too.
  [[nodiscard]] RoundComparator solve(Round round, const RoundBatches& batches, bool twice);

 private:
  [[nodiscard]] Minimum search(const RoundBatches& batches, const Vector& start);

  Domain& domain_;
  std::size_t dimension_;
  RoundLoss loss_;
  MinimiseSettings settings_;
};

}  // namespace starling
