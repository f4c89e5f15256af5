/// The run directory (docs/reference/run-directory.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/links.hpp"
#include "files/durable_file.hpp"
#include "net/agreement.hpp"
#include "output/directory/private_place.hpp"
#include "output/directory/run_identity.hpp"

namespace starling {

/// The directory of a run. While the object lives rank 0 locks it, and each rank its private folder: no other process
/// can use it for a run before all ranks have ended. With own private folders (PrivatePlace) other ranks need not see
/// it: their files of it lie below their private folders, until bring_in().
class RunDirectory {
 public:
  /// **Collective.** Rank 0 creates the directory, which must not exist or must be empty, with config.ini. Each rank
  /// creates its private folder (mode 0700), in the directory or where `place` says (PrivatePlace). Throws UsageError.
  RunDirectory(const std::string& path, const std::string& configuration, Agreement& agreement,
               const std::string& place = "")
      : RunDirectory(path, configuration, Before::nothing, agreement, place) {}
  /// **Collective.** Empties and reuses the directory of a run that never began its first round.
  [[nodiscard]] static RunDirectory afresh(const std::string& path, const std::string& configuration,
                                           Agreement& agreement, const std::string& place = "") {
    return {path, configuration, Before::a_run_that_never_began, agreement, place};
  }
  /// **Collective.** Opens the directory of a run that ended before its last round. Throws UsageError if it is not the
  /// directory of a run, or if the run has not begun or is running; ranks of a killed run have some seconds to end.
  /// `change` is that of the clients: if some are lost, private folders may be gone.
  [[nodiscard]] static RunDirectory again(const std::string& path, Agreement& agreement, const std::string& place = "",
                                          std::optional<Membership::Change::Kind> change = std::nullopt);
  /// **Collective.** Whether the run never began its first round, by rank 0's files. Then nothing was released.
  [[nodiscard]] static bool never_began(const std::string& path, Agreement& agreement);
  /// Marks the begin of the first round, or of a release before it, on rank 0: `never_began` is false from now on.
  void has_begun() const;
  /// Removes what the constructor has made, with all that was put into it since. Rank-local.
  void remove(int rank) const;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Whether this rank sees rank 0's directory.
  [[nodiscard]] bool is_seen() const { return seen_; }
  /// The number of rounds of a run that has finished; none otherwise.
  [[nodiscard]] std::optional<Round> finished_rounds() const;
  [[nodiscard]] bool has_checkpoints(int rank) const;
  /// Replaces config.ini of a run that has not begun its first round. On rank 0.
  void replace_configuration(const std::string& configuration) const;
  /// Replaces these keys of config.ini by those of `configuration`, and `output` if the directory was moved. On rank 0.
  void set_configuration(const std::string& configuration, const std::vector<std::string>& keys) const;
  /// Removes the results of the earlier end of a resumed run. On rank 0.
  void forget_results() const;
  /// Marks the run as resumable. On rank 0.
  void begin(const RunIdentity& identity) const { write_identity(identity, ""); }
  /// Marks the run as finished, once all results are written. On rank 0.
  void finish() const { write_identity(identity(), "finished"); }
  /// Begins to move clients to other private folders, as of a run that goes on with other ranks or other clients:
  /// private_folder() gives these from now on.
  void begin_move() { place_.begin_move(); }
  /// Makes a private folder to which clients move, empty.
  [[nodiscard]] std::string make_next_folder(int rank) const;
  /// Ends the move to the folders of `next.ranks` ranks, which are durable, and replaces the identity by `next`. A
  /// crash leaves a run with the earlier folders, or with these. **Collective.**
  void take_next_folders(Agreement& agreement, RunIdentity next);
  /// States what determines the releases of the clients that are there now. On rank 0.
  void settle_determination(const std::string& digest) const;
  /// The identity of the run. On a rank that does not see the directory, it is that of the moment when the run was
  /// taken up. Throws UsageError if no run has begun.
  [[nodiscard]] RunIdentity identity() const;
  /// Whether files of records are continued, and not created.
  [[nodiscard]] bool goes_on() const { return goes_on_; }
  void go_on() { goes_on_ = true; }
  /// The list of the run's members that was kept last; empty if none was. Rank 0's.
  [[nodiscard]] std::string members_list() const;
  void keep_members(const std::string& list) const;
  /// The content of notes.json (KeptNotes); empty if there is no such file. Rank 0's.
  [[nodiscard]] std::string notes() const;
  [[nodiscard]] std::string notes_file() const { return path_ + "/notes.json"; }
  void keep_notes(const std::string& text) const;
  [[nodiscard]] std::string run_file() const { return path_ + "/run.h5"; }
  [[nodiscard]] std::string summary_file() const { return path_ + "/summary.json"; }
  /// The path of a rank's file relative to the directory, for links of run.h5.
  [[nodiscard]] static std::string clients_name(int rank);
  [[nodiscard]] std::string clients_file(int rank) const { return file(clients_name(rank), rank); }
  /// The path at which this rank, `rank`, writes its file `name` of the directory.
  [[nodiscard]] std::string file(const std::string& name, int rank) const;
  /// Brings files of ranks that do not see the directory into it. **Collective.**
  void bring_in(Agreement& agreement) const;
  [[nodiscard]] std::string private_folder(int rank) const { return place_.folder(rank); }
  /// The places of private folders, as this rank found them.
  [[nodiscard]] const PrivatePlace& place() const { return place_; }
  /// Notes where private folders are, once the run is to go on. **Collective.**
  void note_private_folders(Agreement& agreement) const { place_.note(agreement); }

 private:
  enum class Before { nothing, a_run_that_never_began };
  RunDirectory(const std::string& path, const std::string& configuration, Before before, Agreement& agreement,
               const std::string& place);
  RunDirectory(std::string path, const std::string& place) : path_(std::move(path)), place_(path_, place) {}
  [[nodiscard]] std::string held_by_another(int rank);
  void hold(Agreement& agreement);
  void hold_private_folder(int rank);
  void look(Agreement& agreement);
  void tell_identity(Agreement& agreement);
  void require_folders(bool lost) const;
  [[nodiscard]] std::string identity_text() const;
  void write_identity(const RunIdentity& identity, const std::string& state) const;
  void make(const std::string& configuration, Before before, Agreement& agreement);
  std::string path_;
  PrivatePlace place_;
  enum class Was { not_ours, empty, not_there };
  Was was_ = Was::not_ours;                 ///< the directory before this run, on rank 0
  std::optional<Descriptor> held_;          ///< the lock, on rank 0
  std::optional<Descriptor> held_private_;  ///< the lock of this rank's private folder
  bool seen_ = true;
  std::string identity_elsewhere_;  ///< the text of run-id, where the directory is not seen
  bool goes_on_ = false;
};

}  // namespace starling
