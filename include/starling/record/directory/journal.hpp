/// Journals: the records of a rank in order, from which a resumed run writes its HDF5 files again. A crash may have
/// damaged those files.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "starling/core/snapshot.hpp"
#include "starling/record/directory/run_directory.hpp"

namespace starling {

/// An append-only file of snapshots.
class Journal {
 public:
  explicit Journal(std::string path) : file_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const { return file_.path(); }
  /// Throws FailureError.
  void append(const Snapshot& entry) const;
  /// Makes all entries durable and returns the length in bytes. Throws FailureError.
  [[nodiscard]] std::int64_t settle() const { return file_.settle(); }
  /// Truncates the journal to `size` bytes and calls `again` with each remaining entry. Throws DataError for a shorter
  /// or damaged journal.
  void go_back(std::int64_t size, const std::function<void(Snapshot&)>& again) const;

 private:
  OwnersFile file_;
};

}  // namespace starling
