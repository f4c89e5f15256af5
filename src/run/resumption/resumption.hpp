/// A run that goes on, until its first round: its clients, its private folders, the checkpoint that it goes on from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/clients/membership.hpp"
#include "core/links.hpp"
#include "folder_regrouping.hpp"
#include "member_change.hpp"
#include "net/agreement.hpp"
#include "output/directory/run_directory.hpp"

namespace starling {

/// A run that goes on (`--resume`). Functions stand in the order in which they are called. Nothing in the run's
/// directory changes before choose_checkpoint().
class Resumption {
 public:
  /// `before` is config.ini as it was. Notes of the run are added to `notes`. References are kept. Rank-local. Throws
  /// UsageError if the directory says nothing of a run.
  Resumption(Agreement& agreement, RunDirectory& directory, std::string before, std::vector<std::string>& notes);

  /// The run's id.
  [[nodiscard]] const std::string& run() const { return run_; }
  /// All clients of the run, and the spec of their graph (RunIdentity::rewired).
  [[nodiscard]] const Membership& members() const { return change_.members; }
  [[nodiscard]] const std::string& rewired() const { return change_.rewired; }

  /// Throws UsageError for another --rounds, if there is a reason why rounds cannot change. Rank-local.
  void require_rounds(const LearningConfig& config, const std::string& why_no_more_rounds) const;
  /// Whether the run has played all its rounds. **Collective.**
  [[nodiscard]] bool is_finished(const LearningConfig& config);
  /// Makes the change that --lost or --join asks for. `why_same_clients` is the reason why the run cannot; empty if it
  /// can. **Collective.**
  void choose_members(const LearningConfig& config, const std::string& why_same_clients);
  /// The layout of so many clients: that of the private folders, unless clients move.
  [[nodiscard]] Layout layout(Client clients) const;
  /// The number of rounds with which the run began. It has `now`, and had `of_data` where none was stated.
  [[nodiscard]] Round first_rounds(const LearningConfig& config, Round now, Round of_data) const;
  /// Chooses the newest checkpoint that all ranks hold whole, if there is one. If clients are on other ranks than
  /// before, or are others, then makes the private folders of these. **Collective.** Throws UsageError, DataError.
  void choose_checkpoint(const Layout& layout, bool plays, const std::string& rewired,
                         const std::string& why_as_many_ranks);
  /// Whether this start has changed the clients in the run's directory: later starts have the new ones.
  [[nodiscard]] bool has_changed_clients() const { return has_changed_clients_; }
  /// Requires that `now`, which determines the releases, is as it was after the last change of clients. **Collective.**
  void settle_determination(const std::string& now);
  /// Begins with `rounds` rounds in all, from the checkpoint or anew. **Collective.** Throws UsageError.
  void begin(Round rounds, const Layout& layout, bool plays);
  /// The rounds before the checkpoint that the run goes on from; none for a run that begins anew.
  [[nodiscard]] const std::optional<Round>& from() const { return from_; }

 private:
  [[nodiscard]] CheckpointFolder own_checkpoints(const Layout& layout) const;
  [[nodiscard]] Layout layout_before(const Layout& now) const;
  [[nodiscard]] std::vector<int> ranks_that_go_on(bool same_folders, bool plays);
  void make_other_folders(const Layout& layout, bool plays, const std::string& rewired);
  void make_folders_of_new_hosts(const FolderRegrouping& regrouping);

  Agreement& agreement_;
  RunDirectory& directory_;
  std::string before_;
  std::vector<std::string>& notes_;
  std::string run_;
  std::optional<FoundCheckpoints> found_;  ///< once somebody has looked
  MemberChange change_;                    ///< of this start; none by default
  bool has_changed_clients_ = false;
  std::optional<Round> from_;
};

}  // namespace starling
