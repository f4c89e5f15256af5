/// Journals: the records of a rank in order, from which a resumed run writes its HDF5 files again. A crash may have
/// damaged those files.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/snapshot.hpp"
#include "owners_file.hpp"

namespace starling {

/// The entries of a journal in turn, from the first one on.
class JournalReader {
 public:
  /// Reads the first `size` bytes of the file.
  JournalReader(std::string path, std::int64_t size) : path_(std::move(path)), size_(size) {}
  /// The content of the next entry; none at the end. Throws DataError for a shorter or damaged journal.
  [[nodiscard]] std::optional<Secret<std::string>> next();
  /// Throws DataError, with the place of the last entry.
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  std::string path_;
  std::int64_t size_;
  std::int64_t at_ = 0;
  std::int64_t next_ = 0;
};

/// An append-only file of snapshots.
class Journal {
 public:
  explicit Journal(std::string path) : file_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const { return file_.path(); }
  /// Throws FailureError.
  void append(const Snapshot& entry) const { append(entry.content()); }
  void append(const Secret<std::string>& entry) const;
  /// Makes all entries durable and returns the length in bytes. Throws FailureError.
  [[nodiscard]] std::int64_t settle() const { return file_.settle(); }
  /// Truncates the journal to `size` bytes and calls `again` with each remaining entry. Throws DataError for a shorter
  /// or damaged journal.
  void go_back(std::int64_t size, const std::function<void(Snapshot&)>& again) const;

 private:
  OwnersFile file_;
};

}  // namespace starling
