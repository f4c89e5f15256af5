/// The directory of a run, from the time when there is none to the first round.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/clients/membership.hpp"
#include "output/directory/run_directory.hpp"

namespace starling {

class RunContext;

/// Whether --lost or --join has changed the clients of a resumed run: not yet, perhaps (a signal came meanwhile), or
/// yes.
enum class ClientChange { ahead, under_way, done };

/// The message of a run in `directory` that was resumed. `option` is --lost or --join; empty without either.
[[nodiscard]] std::string early_stop_of_resumed(const std::string& command, const std::string& directory,
                                                const std::string& option, ClientChange change);

/// The message of a new run. `directory` is empty if --resume cannot begin the run there. `released`: histograms have
/// been released.
[[nodiscard]] std::string early_stop_of_new(const std::string& command, const std::string& directory, bool released);

class RunHome {
 public:
  /// Keeps references.
  explicit RunHome(RunContext& run) : run_(run) {}

  [[nodiscard]] bool is_there() const { return directory_.has_value(); }
  [[nodiscard]] RunDirectory& directory() { return *directory_; }
  [[nodiscard]] const RunDirectory& directory() const { return *directory_; }
  /// This start has released something before the first round.
  [[nodiscard]] bool has_released() const { return released_; }

  /// Opens the directory of the run that --resume names. **Collective.** Throws UsageError.
  void open(std::optional<Membership::Change::Kind> change);
  /// Makes the directory, if there is none yet, and finds out whether dashboards can be written. **Collective.**
  void make();
  /// This rank's private folder, for a ledger of what is released before the rounds. The directory is made if it is not
  /// there yet. **Collective.**
  [[nodiscard]] std::string private_folder_before_rounds();
  /// Called before a release that precedes the rounds: after it no run can begin afresh in the directory.
  /// **Collective.**
  void begin_early_release();
  /// Removes what was made for a run that is refused before it has released anything. Rank-local: other ranks may have
  /// failed.
  void leave_nothing() const;

  /// Ends the run before its first round if a signal came. **Collective.**
  void end_if_signalled();
  /// Tells the world what a signal before the first round means; `change` is that of a resumed run.
  void explain_early_stop() const;
  void explain_early_stop(ClientChange change) const;

 private:
  void make_new();
  void save_partition_once();
  [[nodiscard]] std::string early_stop() const;
  [[nodiscard]] std::string early_stop(ClientChange change) const;

  RunContext& run_;
  std::optional<RunDirectory> directory_;
  bool released_ = false;
  bool saved_partition_ = false;  ///< by this process
};

}  // namespace starling
