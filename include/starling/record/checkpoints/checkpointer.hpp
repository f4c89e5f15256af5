/// Writes what a rank keeps between rounds, and takes it up again.
///
/// Ranks are at different rounds at the same time, so a rank may go on only from a round of which all hold a
/// checkpoint. They all write them after the same rounds, and each keeps its own until all have written two later ones.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "starling/core/snapshot.hpp"
#include "starling/net/agreement.hpp"
#include "starling/net/milestones.hpp"
#include "starling/protocol/observer.hpp"
#include "starling/record/checkpoints/checkpoint.hpp"

namespace starling {

/// What is kept, part by part.
class KeptParts {
 public:
  /// Keeps a reference. Who counts rounds is told by `leave_out()` which are not played. What it needs besides is in
  /// `files()` of the object, where it has that: paths, of files that only grow and are on the disk whenever the object
  /// has been persisted.
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
  /// The same, of what is to be read before all else.
  template <class T>
  void put_first(const std::string& name, T& object) {
    parts_.insert(parts_.begin(), part(name, object));
  }
  /// Rounds before `end` that have not been played will not be.
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

/// How often checkpoints are written; neither: when the run stops alone.
struct CheckpointPace {
  Round rounds = 0;
  double seconds = 0;
  [[nodiscard]] bool any() const { return rounds > 0 || seconds > 0; }
};

/// Of one rank. An observer that comes after all others.
class Checkpointer final : public Observer {
 public:
  /// `active`: the ranks that host clients. **Collective** over all ranks.
  Checkpointer(World& world, const std::vector<int>& active, CheckpointFolder folder, const CheckpointPace& pace,
               KeptParts parts);

  void after(const RoundView& view) override;
  [[nodiscard]] Round due() const override;
  /// Now; returns when it survives a crash. Throws FailureError.
  void write(Round done);
  /// The same, unless that of the round is there.
  void write_last(Round done);
  /// Takes up the state after `round`, and forgets what is later. Throws DataError with the file's name.
  void go_back(Round round);
  /// Goes on at round `end`: those before it that have not been played are left out.
  void leave_out(Round end) const { parts_.leave_out(end); }
  /// After the last round. Collective over the active ranks.
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
  std::deque<Round> written_;  ///< by this process; the first of them all have
  std::int64_t dropped_ = 0;   ///< of those that it has written
};

/// The newest round of which all ranks that host clients hold a whole checkpoint; none if there is no such.
/// `complaints` gets what is wrong with files of any rank. **Collective.**
[[nodiscard]] std::optional<Round> newest_common_checkpoint(Agreement& agreement, const CheckpointFolder& folder,
                                                            bool hosts_clients, std::vector<std::string>& complaints);

}  // namespace starling
