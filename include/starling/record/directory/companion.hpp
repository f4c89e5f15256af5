/// Files that only grow, and that a run needs beside its checkpoints: journals, and tables that go on where they ended.
#pragma once

#include <cstdint>
#include <string>

#include "starling/core/digest.hpp"

namespace starling {

/// What such a file held when a checkpoint was written.
struct Companion {
  std::string name;        ///< relative to the folder of the checkpoints
  std::int64_t bytes = 0;  ///< that it had
  std::string digest;      ///< SHA-256 of them
  friend bool operator==(const Companion&, const Companion&) = default;
};

/// Digests of the first bytes of such a file. What was read for one is not read again for the next.
class GrowingDigest {
 public:
  explicit GrowingDigest(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Of as many bytes, which are no fewer than before. Throws DataError if the file has not as many, FailureError.
  [[nodiscard]] std::string of_first(std::int64_t bytes);
  /// How many bytes the last digest was of.
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  std::string path_;
  Sha256 sum_;
  std::int64_t bytes_ = 0;
};

}  // namespace starling
