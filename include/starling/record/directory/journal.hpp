/// The records of a run in the order in which they were made, from which its HDF5 files are made again where a crash
/// may have torn them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "starling/core/snapshot.hpp"
#include "starling/record/directory/run_directory.hpp"

namespace starling {

class Journal {
 public:
  explicit Journal(std::string path) : file_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const { return file_.path(); }
  /// Throws FailureError.
  void append(const Snapshot& entry) const;
  /// All that was appended is on the disk, and this long, in bytes. Throws FailureError.
  [[nodiscard]] std::int64_t settle() const { return file_.settle(); }
  /// Forgets what was appended later than settle() gave `size`, and gives `again` every entry before. Throws DataError
  /// if there is not as much, or it is damaged.
  void go_back(std::int64_t size, const std::function<void(Snapshot&)>& again) const;

 private:
  OwnersFile file_;
};

}  // namespace starling
