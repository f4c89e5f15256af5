/// The checkpoints of one rank on disk: PRIVATE/checkpoint-<round>, each whole or not there.
///
/// A line of JSON says what it is, the state follows:
///
///   {"starling":"checkpoint","format":2,"build":"0.1.0 (1a2b3c)","run":"9f…","rank":0,"ranks":4,"first":0,"clients":2,
///    "round":1000,"files":[["journal",5120,"0b…"],["metrics.csv",311,"77…"]],"bytes":8042,"sha256":"5c…"}
///
/// (one line, without spaces, members in this order). `files` are those that the run needs besides, with the bytes that
/// they had and their digest. The last digest is of the line up to `,"sha256"` and of the state.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "starling/core/boundary.hpp"
#include "starling/core/links.hpp"
#include "starling/record/directory/companion.hpp"

namespace starling {

/// Whose state a checkpoint is, and who can read it.
struct CheckpointLabel {
  std::string build;  ///< what wrote it: others may keep other things
  std::string run;
  int rank = 0;
  int ranks = 1;
  Client first = 0;  ///< of the rank's clients
  Client clients = 1;
  friend bool operator==(const CheckpointLabel&, const CheckpointLabel&) = default;
};

/// A checkpoint as its file holds it.
struct CheckpointFile {
  CheckpointLabel label;
  Round round = 0;
  Secret<std::string> state;
  std::vector<Companion> files = {};
};

[[nodiscard]] Secret<std::string> write_checkpoint(const CheckpointFile& checkpoint);
/// Throws DataError for what is no checkpoint, or was changed, with the byte where it is seen.
[[nodiscard]] CheckpointFile read_checkpoint(std::string_view file);

class CheckpointFolder {
 public:
  CheckpointFolder(std::string folder, CheckpointLabel label) : folder_(std::move(folder)), label_(std::move(label)) {}

  /// Returns when the checkpoint survives a crash. Throws FailureError; what was there before is then whole still.
  void write(Round round, const Secret<std::string>& state, const std::vector<Companion>& files = {}) const;
  /// What a file that has been written to the disk is called here, and what it holds. Throws FailureError.
  [[nodiscard]] Companion describe(GrowingDigest& file) const;

  struct Found {
    std::vector<Round> whole;             ///< of this run, with all files that they need, rising
    std::vector<std::string> complaints;  ///< about files that are no use, with what is wrong with them
  };
  [[nodiscard]] Found look() const;
  /// Throws DataError with the file's name, FailureError.
  [[nodiscard]] Secret<std::string> read(Round round) const;
  /// Takes away the checkpoints of the rounds from `from` to before `end`. Throws FailureError.
  void remove(Round from, Round end) const;

 private:
  [[nodiscard]] std::string path(Round round) const;
  [[nodiscard]] CheckpointFile open(Round round) const;
  void require_files(const CheckpointFile& checkpoint, std::map<std::string, GrowingDigest>& digests) const;
  [[nodiscard]] std::vector<Round> rounds() const;

  std::string folder_;
  CheckpointLabel label_;
};

}  // namespace starling
