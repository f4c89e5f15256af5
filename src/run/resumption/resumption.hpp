/// A run that goes on, until its first round: its clients, its private folders, the checkpoint that it goes on from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/clients/membership.hpp"
#include "core/links.hpp"
#include "core/snapshot.hpp"
#include "found_checkpoints.hpp"
#include "net/agreement.hpp"
#include "output/directory/owners_file.hpp"
#include "output/directory/run_directory.hpp"
#include "run/settings/learning_config.hpp"

namespace starling {

/// Why rounds that were planned cannot become more; empty if they can.
[[nodiscard]] std::string why_no_more_rounds(const LearningConfig& config);

/// The clients with which a run goes on, and the private folders that it cannot use.
struct MemberChange {
  Membership members;          ///< after the change
  std::string rewired = "";    ///< spec of the graph of those that are there (RunIdentity::rewired)
  std::vector<int> gone = {};  ///< ranks before whose folders are of no use, ascending
  bool moves = false;          ///< folders must be made anew: clients are lost or join, or some folder is gone
  std::vector<std::string> notes = {};
};

/// The change that --lost or --join asks for, by what the run's identity and its folders say. Throws UsageError if it
/// cannot be made, and DataError if no checkpoint is left to go on from.
[[nodiscard]] MemberChange change_members(const LearningConfig& config, const RunIdentity& before,
                                          const WholeCheckpoints& checkpoints);

/// A note on each change of a run's clients.
[[nodiscard]] std::vector<std::string> notes_on_changes(const Membership& members);

/// Makes a rank's new private folder of those that its clients were in: keys, ledger, and the checkpoint after a round
/// with the files that it needs. The old folders stay as they are. Lost clients whose folders are gone get a key that
/// nobody uses, and no entry in the ledger. Clients that join get a key, and an empty account in the ledger.
class FolderRegrouping {
 public:
  /// `gone` are the ranks before, ascending, whose folders are of no use. This rank sees all others that its clients
  /// were in.
  FolderRegrouping(const RunDirectory& directory, std::string run_id, const Layout& before, const Layout& after,
                   int rank, const std::vector<int>& gone = {});

  /// The same for another rank, with what this one sees.
  [[nodiscard]] FolderRegrouping of_rank(int rank) const { return {directory_, run_id_, before_, after_, rank, gone_}; }
  /// Makes the folder, and returns when it is durable. `round` is that of the checkpoint, if the run has one. Throws
  /// DataError for what is damaged or does not fit together, FailureError.
  void make_folder(std::optional<Round> round) const;

  /// Whether this rank sees no folder of use.
  [[nodiscard]] bool sees_nothing() const { return usable_.empty(); }
  /// Whether all clients of this rank join, and it has no folder to begin from.
  [[nodiscard]] bool begins_from_nothing() const { return usable_.empty() && group_.count > 0; }
  /// Whether clients have keys that the operating system gave.
  [[nodiscard]] bool has_keys() const;
  /// A folder, here, for a rank whose clients all join on a host without a folder. Its files have entries of the new
  /// clients alone, beside what all ranks have in common. So nothing in them is any owner's.
  [[nodiscard]] std::string make_folder_without_keys(std::optional<Round> round) const;
  /// Gives each client a new key, in the folder where it has come to.
  void make_new_keys(const std::string& folder) const;

 private:
  [[nodiscard]] CheckpointFolder folder_of(int before) const {
    return checkpoint_folder(directory_.place().earlier_folder(before), run_id_, before_, before);
  }
  [[nodiscard]] ClientGroup group_of(int before) const;
  void fill(const std::string& folder, std::optional<Round> round) const;
  void make_keys(const std::string& folder) const;
  void make_ledger(const std::string& folder) const;
  void make_notes(const std::string& folder) const;
  void make_checkpoint(const std::string& folder, Round round) const;
  void make_journal(const std::string& file, std::size_t number, const std::vector<CheckpointFile>& parts) const;
  void make_table(const std::string& file, std::size_t number, const std::vector<CheckpointFile>& parts) const;

  const RunDirectory& directory_;
  std::string run_id_;
  Layout before_;
  Layout after_;
  int rank_;
  std::vector<int> gone_;
  ClientGroup group_;
  std::vector<int> parts_;         ///< ranks that had clients of this one; another's folder if there is none
  std::vector<int> usable_;        ///< all ranks before whose folders are seen and of use
  std::vector<Client> stateless_;  ///< clients of the others, and those that join: ascending
};

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
  void require_rounds(const LearningConfig& config) const;
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
  [[noreturn]] void refuse_change_at_end(const LearningConfig& config, const char* option, Round rounds) const;

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
