/// The checkpoints of one rank on disk: PRIVATE/checkpoint-<round>, each whole or not there.
///
/// A line of JSON says what it is, the state follows:
///
///   {"starling":"checkpoint","format":1,"build":"0.1.0 (1a2b3c)","run":"9f…","rank":0,"ranks":4,"first":0,"clients":2,
///    "round":1000,"bytes":8042,"sha256":"5c…"}
///
/// (one line, without spaces, members in this order). The digest is of the line up to `,"sha256"` and of the state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "starling/core/boundary.hpp"
#include "starling/core/links.hpp"

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
};

[[nodiscard]] Secret<std::string> write_checkpoint(const CheckpointFile& checkpoint);
/// Throws DataError for what is no checkpoint, or was changed, with the byte where it is seen.
[[nodiscard]] CheckpointFile read_checkpoint(std::string_view file);

class CheckpointFolder {
 public:
  CheckpointFolder(std::string folder, CheckpointLabel label) : folder_(std::move(folder)), label_(std::move(label)) {}

  /// Returns when the checkpoint survives a crash. Throws FailureError; what was there before is then whole still.
  void write(Round round, const Secret<std::string>& state) const;

  struct Found {
    std::vector<Round> whole;             ///< of this run, rising
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
  [[nodiscard]] std::vector<Round> rounds() const;

  std::string folder_;
  CheckpointLabel label_;
};

}  // namespace starling
