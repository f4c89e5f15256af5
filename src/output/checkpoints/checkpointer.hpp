/// The checkpointer of one rank: writes the state between rounds, and restores it.
///
/// Ranks may be at different rounds at the same time. A run resumes from a round of which all ranks hold a checkpoint.
/// All ranks write checkpoints after the same rounds. Each keeps its own until all have written two later ones.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/snapshot.hpp"
#include "net/milestones.hpp"
#include "output/checkpoints/checkpoint.hpp"
#include "protocol/observer.hpp"

namespace starling {

/// The parts of a checkpoint, in order.
class KeptParts {
 public:
  /// Adds a part; a reference is kept. An object with `leave_out()` is told which rounds are not played. An object with
  /// `files()` names files that the checkpoint depends on. They only grow, and persisting the object makes them
  /// durable.
  template <class T>
  void add(const std::string& name, T& object) {
    parts_.push_back(part(name, object));
    if constexpr (requires { object.files(); }) {
      for (const std::string& file : object.files()) files_.push_back(file);
    }
    if constexpr (requires { object.leave_out(Round()); }) {
      leaving_out_.push_back([&object](Round end) { object.leave_out(end); });
    }
  }
  /// Adds a part that is read before all others.
  template <class T>
  void put_first(const std::string& name, T& object) {
    parts_.insert(parts_.begin(), part(name, object));
  }
  /// Tells all parts that rounds before `end` that were not played will not be played.
  void leave_out(Round end) const {
    for (const auto& part : leaving_out_) part(end);
  }
  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }
  void persist(Snapshot& snapshot) const {
    for (const auto& part : parts_) part(snapshot);
  }

 private:
  template <class T>
  [[nodiscard]] static std::function<void(Snapshot&)> part(const std::string& name, T& object) {
    return [name, &object](Snapshot& snapshot) {
      snapshot.part(name);
      snapshot(object);
    };
  }
  std::vector<std::function<void(Snapshot&)>> parts_;
  std::vector<std::function<void(Round)>> leaving_out_;
  std::vector<std::string> files_;
};

/// The interval of checkpoints, in rounds or seconds. With neither, one is written when a signal stops the run.
struct CheckpointPace {
  Round rounds = 0;
  double seconds = 0;
  [[nodiscard]] bool any() const { return rounds > 0 || seconds > 0; }
};

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
