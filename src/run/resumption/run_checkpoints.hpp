/// The checkpoints of a run while it plays its rounds.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/clients/membership.hpp"
#include "core/links.hpp"
#include "net/agreement.hpp"
#include "output/checkpoints/checkpointer.hpp"
#include "output/directory/run_directory.hpp"
#include "report/summary.hpp"
#include "run/privacy/run_privacy.hpp"

namespace starling {

/// Facts of a run that its checkpoints depend on.
struct CheckpointTerms {
  CheckpointFolder folder;   ///< of this rank
  std::vector<int> playing;  ///< ranks that play rounds, ascending
  CheckpointPace pace;
  std::size_t dimension = 0;       ///< of the models that the records make
  Round rounds = 0;                ///< planned
  Round releases_of_round = 1;     ///< of a client
  bool reads_pipes = false;        ///< on any rank: a process has other records than the one before
  std::optional<Round> from = {};  ///< round of the checkpoint that the run goes on from
  std::string why_no_more_rounds;  ///< than `rounds`; empty if there may be more
};

/// The reason why rounds would be others than before.
enum class LeftOutBy { other_clients, records_gone };

/// The checkpoints of a run on one rank. The object starts them, and brings back the state of a run that goes on.
/// Then, before the first round, go_on_with() or leave_out() follows if clients or records are not the same any more.
/// After the last round come finish(), and drop() once the results are whole.
class RunCheckpoints {
 public:
  /// `parts` is all state of the run that changes in rounds. **Collective.** Throws DataError for a state that is
  /// damaged, or of models of another dimension.
  RunCheckpoints(World& world, Agreement& agreement, CheckpointTerms terms, KeptParts parts);

  /// The observer that writes the state of all others: it comes last.
  [[nodiscard]] Observer& observer() { return *checkpointer_; }

  /// The first change of the clients that the state of some rank does not know; none if it is of these clients.
  /// **Collective.**
  [[nodiscard]] std::optional<std::size_t> first_unknown_change(const Membership& members);
  /// Goes on with a state that has been made that of these clients. It is durable before any release. **Collective.**
  void go_on_with(const Membership& members, RunPrivacy& privacy);
  /// Leaves out rounds that would be others than before. A round that may have been released must not be released again
  /// with other gradients, at the same address and for one charge. So the run goes on with the first round that no
  /// ledger knows. If there is none, a run with other clients that can have no more rounds ends with the checkpoint,
  /// and others throw UsageError. **Collective.**
  void leave_out(LeftOutBy why, RunPrivacy& privacy);
  /// All that were left out, one entry for each resumption.
  [[nodiscard]] const std::vector<LeftOut>& left_out() const { return feed_.left_out; }
  /// The last rounds that were left out, if the run ended without them, with its checkpoint.
  [[nodiscard]] std::optional<LeftOut> left_out_to_end() const;

  /// Writes the last checkpoint of a run that writes any, or needs this one: a signal has stopped it, or its evaluation
  /// is yet to come. **Collective.**
  void finish(Round done, bool needed);
  /// Removes checkpoints of a run whose results are whole, once these are durable. The last one stays if the run writes
  /// any. `has_models`: this rank has written models. **Collective.**
  void drop(Round done, const RunDirectory& directory, bool has_models);

 private:
  void require_end(LeftOutBy why, Round from, Round at) const;

  /// The history of a run's clients and records, which its other parts depend on.
  struct Feed {
    std::size_t dimension = 0;
    std::size_t changes = 0;  ///< how often clients were lost or joined before this state
    std::vector<LeftOut> left_out;
    /// Throws DataError if the records make models of another dimension.
    void persist(Snapshot& snapshot);
  };

  Agreement& agreement_;
  CheckpointTerms terms_;
  bool plays_;  ///< whether this rank does
  Feed feed_;
  std::optional<Checkpointer> checkpointer_;
};

}  // namespace starling
