/// Private folders of a run that goes on with another number of ranks, or with other clients.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/snapshot.hpp"
#include "found_checkpoints.hpp"

namespace starling {

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

}  // namespace starling
