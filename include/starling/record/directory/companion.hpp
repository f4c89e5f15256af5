/// Files that a checkpoint depends on and that only grow: journals, and tables that a resumed run continues.
#pragma once

#include <cstdint>
#include <string>

#include "starling/core/digest.hpp"

namespace starling {

/// The state of such a file when a checkpoint was written.
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

}  // namespace starling
