/// The run directory (design/interface: "The run directory").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "starling/core/links.hpp"
#include "starling/files/durable_file.hpp"
#include "starling/net/agreement.hpp"

namespace starling {

/// What a run that goes on must have in common with the one that began; the file run-id, a line each.
struct RunIdentity {
  std::string run;     ///< id
  std::string inputs;  ///< digest of what neither the configuration holds nor a ledger knows
};

/// Rank 0's process holds it, as long as the object lives, so that no other begins a run there or goes on with one.
class RunDirectory {
 public:
  /// Rank 0 makes the directory, which must not exist or be empty, with config.ini; then each rank its private folder
  /// (0700).
  /// **Collective.** Throws UsageError.
  RunDirectory(const std::string& path, const std::string& configuration, Agreement& agreement, int rank)
      : RunDirectory(path, configuration, Before::nothing, agreement, rank) {}
  /// The same in the directory of a run that never came to its first round, which is emptied.
  [[nodiscard]] static RunDirectory afresh(const std::string& path, const std::string& configuration,
                                           Agreement& agreement, int rank) {
    return {path, configuration, Before::a_run_that_never_began, agreement, rank};
  }
  /// That of a run which has ended before its last round. **Collective.** Throws UsageError if it is none, had not
  /// begun, goes on, or was one of another number of ranks.
  [[nodiscard]] static RunDirectory again(const std::string& path, Agreement& agreement, int rank);
  /// Whether it is that of a run whose first round could not begin, as rank 0 sees it: then nothing was released.
  /// **Collective.**
  [[nodiscard]] static bool never_began(const std::string& path, Agreement& agreement, int rank);
  /// Rank 0's, right before the first round: from here on `never_began` is false.
  void has_begun() const;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Of a run that has played all the rounds that it was to, how many these are.
  [[nodiscard]] std::optional<Round> finished_rounds() const;
  [[nodiscard]] bool has_checkpoints(int rank) const;
  /// Gives these keys of config.ini what `configuration` says of them, and leaves the others, but for `output` where
  /// the directory was moved. Rank 0's.
  void set_configuration(const std::string& configuration, const std::vector<std::string>& keys) const;
  /// Of a run that goes on: takes away what says how it ended. Rank 0's.
  void forget_results() const;
  /// Notes that the run can be taken up from here on. Rank 0's.
  void begin(const RunIdentity& identity) const { write_identity(identity, false); }
  /// Notes that it has come to its end, and all its results are there. Rank 0's.
  void finish() const { write_identity(identity(), true); }
  /// Of the run that has begun here. Throws UsageError if none has.
  [[nodiscard]] RunIdentity identity() const;
  /// Whether the files of records go on where they ended, and are not begun anew.
  [[nodiscard]] bool goes_on() const { return goes_on_; }
  void go_on() { goes_on_ = true; }
  [[nodiscard]] std::string run_file() const { return path_ + "/run.h5"; }
  [[nodiscard]] std::string summary_file() const { return path_ + "/summary.json"; }
  /// Relative to the directory: what run.h5 links to.
  [[nodiscard]] static std::string clients_name(int rank);
  [[nodiscard]] std::string clients_file(int rank) const { return path_ + "/" + clients_name(rank); }
  [[nodiscard]] std::string private_folder(int rank) const;

 private:
  enum class Before { nothing, a_run_that_never_began };
  RunDirectory(const std::string& path, const std::string& configuration, Before before, Agreement& agreement,
               int rank);
  explicit RunDirectory(std::string path) : path_(std::move(path)) {}
  void require_ranks(int ranks) const;
  void write_identity(const RunIdentity& identity, bool finished) const;
  std::string path_;
  std::optional<Descriptor> held_;  ///< rank 0's
  bool goes_on_ = false;
};

/// All that was written to the file is on the disk, and this long, in bytes. Throws FailureError.
[[nodiscard]] std::int64_t settle_file(const std::string& path);
/// Cuts off what was written later than settle_file gave `size`. Throws DataError if there is not as much,
/// FailureError.
void cut_file(const std::string& path, std::int64_t size);

/// A file of the owner of the data: made with mode 0600, in a private folder. All throw FailureError.
class OwnersFile {
 public:
  explicit OwnersFile(std::string path);
  /// Makes a file hold this and nothing else: the old content or the new is there, whole, whatever happens.
  static void replace(const std::string& path, const Secret<std::string>& content);
  /// Appends text that depends on private records.
  void append(const Secret<std::string>& text) const { append_text(text.open(OpenKey())); }
  /// Appends text that does not (a header, a key's own bytes).
  void append_text(const std::string& text) const;
  [[nodiscard]] std::int64_t settle() const { return settle_file(path_); }
  void go_back(std::int64_t size) const { cut_file(path_, size); }
  /// So many bytes, which it has.
  [[nodiscard]] Secret<std::string> read(std::int64_t from, std::int64_t bytes) const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace starling
