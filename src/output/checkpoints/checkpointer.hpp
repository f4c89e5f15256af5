/// The checkpointer of one rank: writes the state between rounds, and restores it.
///
/// Ranks may be at different rounds at the same time. A run resumes from a round of which all ranks hold a checkpoint.
/// All ranks write checkpoints after the same rounds. Each keeps its own until all have written two later ones.
#pragma once

#include <chrono>
#include <deque>
#include <vector>

#include "checkpoint.hpp"
#include "kept_parts.hpp"
#include "net/milestones.hpp"
#include "output/choices.hpp"
#include "protocol/observer.hpp"

namespace starling {

/// The checkpointer. It must be the last observer.
class Checkpointer final : public Observer {
 public:
  /// **Collective** over all ranks. `active` are the ranks that host clients.
  Checkpointer(World& world, const std::vector<int>& active, CheckpointFolder folder, const CheckpointPace& pace,
               KeptParts parts);

  void after(const RoundView& view) override;
  [[nodiscard]] Round due() const override;
  /// Writes a checkpoint. Returns when it is durable. Throws FailureError.
  void write(Round done);
  /// Writes a checkpoint unless the one of this round exists.
  void write_last(Round done);
  /// Writes a checkpoint between two processes' rounds, on all ranks.
  void write_now(Round done);
  /// Restores the state after `round`, and removes later checkpoints. Throws DataError with the file's name.
  void go_back(Round round);
  /// Resumes at round `end`; earlier rounds that were not played are left out.
  void leave_out(Round end) const { parts_.leave_out(end); }
  /// **Collective** over the active ranks. Ends the exchange of milestones, after the last round.
  void finish();

 private:
  [[nodiscard]] bool is_due(Round done);
  void remove_what_none_needs();

  World& world_;
  CheckpointFolder folder_;
  CheckpointPace pace_;
  KeptParts parts_;
  std::vector<GrowingDigest> files_;
  Round last_ = 0;
  std::chrono::steady_clock::time_point written_at_ = std::chrono::steady_clock::now();
  Milestones milestones_;
  std::deque<Round> written_;  ///< rounds with a checkpoint of this process; all ranks have the first
  std::int64_t dropped_ = 0;   ///< number of removed checkpoints of this process
};

}  // namespace starling
