/// Checkpoint files of one rank: PRIVATE/checkpoint-<round>, written whole or not at all.
///
/// A file is a line of JSON, followed by the state:
///
///   {"starling":"checkpoint","format":3,"build":"0.1.0 (1a2b3c)","run":"9f…","rank":0,"ranks":4,"first":0,"clients":2,
///    "round":1000,"files":[["journal",5120,"0b…"],["metrics.csv",311,"77…"]],"bytes":8042,"sha256":"5c…"}
///
/// The line has no spaces, and its members have this order. `files` lists the files that the checkpoint depends on,
/// each with its length in bytes and its digest. The last digest covers the line up to `,"sha256"` and the state.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/boundary.hpp"
#include "core/digest.hpp"
#include "core/links.hpp"
#include "core/snapshot.hpp"

namespace starling {

/// The identity of a checkpoint: its build, run and rank.
struct CheckpointLabel {
  std::string build;  ///< of the program; other builds may have other parts
  std::string run;
  int rank = 0;
  int ranks = 1;
  Client first = 0;  ///< first client of the rank
  Client clients = 1;
  friend bool operator==(const CheckpointLabel&, const CheckpointLabel&) = default;
};

/// The state of a file that a checkpoint depends on and that only grows (journals, and tables that a resumed run
/// continues), when the checkpoint was written.
struct Companion {
  std::string name;        ///< relative to the folder of the checkpoints
  std::int64_t bytes = 0;  ///< length
  std::string digest;      ///< SHA-256 of these bytes
  friend bool operator==(const Companion&, const Companion&) = default;
};

/// Digests of the first bytes of such a file. Each byte is read once, for all digests.
class GrowingDigest {
 public:
  explicit GrowingDigest(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] const std::string& path() const { return path_; }
  /// The digest of the first `bytes`, no fewer than at the last call. Throws DataError for a shorter file,
  /// FailureError.
  [[nodiscard]] std::string of_first(std::int64_t bytes);
  /// Number of bytes in the last digest.
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  std::string path_;
  Sha256 sum_;
  std::int64_t bytes_ = 0;
};

/// The content of a checkpoint file.
struct CheckpointFile {
  CheckpointLabel label;
  Round round = 0;
  Secret<std::string> state;
  std::vector<Companion> files = {};
};

[[nodiscard]] Secret<std::string> write_checkpoint(const CheckpointFile& checkpoint);
/// Throws DataError, with the position of the damage, for bytes that are not an unchanged checkpoint.
[[nodiscard]] CheckpointFile read_checkpoint(std::string_view file);

/// The folder with the checkpoints of one rank.
class CheckpointFolder {
 public:
  CheckpointFolder(std::string folder, CheckpointLabel label) : folder_(std::move(folder)), label_(std::move(label)) {}

  /// Writes a checkpoint. Returns when it is durable. Throws FailureError; earlier checkpoints stay whole.
  void write(Round round, const Secret<std::string>& state, const std::vector<Companion>& files = {}) const;
  /// The entry of a durable file in a checkpoint: name, length, digest. Throws FailureError.
  [[nodiscard]] Companion describe(GrowingDigest& file) const;

  struct Found {
    std::vector<Round> whole;             ///< rounds of this run's checkpoints whose files are complete, rising
    std::vector<std::string> complaints;  ///< unusable files and their problems
  };
  [[nodiscard]] Found look() const;
  [[nodiscard]] const std::string& folder() const { return folder_; }
  /// The clients whose state the checkpoints have.
  [[nodiscard]] ClientGroup clients() const { return {label_.first, label_.clients}; }
  /// Throws DataError with the file's name, FailureError.
  [[nodiscard]] CheckpointFile read(Round round) const { return open(round); }
  /// Removes the checkpoints of rounds `from` … `end` − 1. Throws FailureError.
  void remove(Round from, Round end) const;

 private:
  [[nodiscard]] std::string path(Round round) const;
  [[nodiscard]] CheckpointFile open(Round round) const;
  void require_files(const CheckpointFile& checkpoint, std::map<std::string, GrowingDigest>& digests) const;

  std::string folder_;
  CheckpointLabel label_;
};

}  // namespace starling
