/// Files of a run that grow, and those that are their owner's alone.
#pragma once

#include <cstdint>
#include <string>
#include <sys/stat.h>

#include "core/boundary.hpp"

namespace starling {

/// The mode of files of a run that anybody may read.
inline constexpr mode_t readable_by_all = S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH;

/// Makes a folder with all above it, and that of a file, if there are none. Throw FailureError.
void make_folder(const std::string& path);
void make_folder_of(const std::string& file);
/// Makes the file durable and returns its length in bytes. Throws FailureError.
[[nodiscard]] std::int64_t settle_file(const std::string& path);
/// Truncates the file to `size` bytes. Throws DataError for a shorter file, FailureError.
void cut_file(const std::string& path, std::int64_t size);

/// A file for the owner of the data alone, created with mode 0600 in a private folder. Members throw FailureError.
class OwnersFile {
 public:
  explicit OwnersFile(std::string path);
  /// Replaces the content of a file. A crash leaves the old content or the new, whole.
  static void replace(const std::string& path, const Secret<std::string>& content);
  /// Appends text that depends on private records.
  void append(const Secret<std::string>& text) const { append_text(text.open(OpenKey())); }
  /// Appends text that does not depend on private records, such as a header.
  void append_text(const std::string& text) const;
  [[nodiscard]] std::int64_t settle() const { return settle_file(path_); }
  void go_back(std::int64_t size) const { cut_file(path_, size); }
  /// Reads `bytes` bytes, which the file must have.
  [[nodiscard]] Secret<std::string> read(std::int64_t from, std::int64_t bytes) const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace starling
