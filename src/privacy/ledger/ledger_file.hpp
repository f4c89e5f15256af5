/// The two files of a ledger on disk.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "files/durable_file.hpp"

namespace starling {

[[nodiscard]] std::string head_path(const std::string& path);

/// Content of a file; none if there is no such file. Throws UsageError if the file is not a plain file, FailureError if
/// the file cannot be read.
[[nodiscard]] std::optional<std::string> content_of(const std::string& path);

/// Whether a process holds the file as a LedgerFile. Throws UsageError if the file is not a plain file.
[[nodiscard]] bool is_held(const std::string& path);

/// A ledger's files, held for writing until destroyed.
class LedgerFile {
 public:
  /// Opens the ledger and holds it. Creates a missing ledger, empty and of mode 0600. Throws UsageError if another
  /// process holds the ledger or the file is not a plain file. Throws DataError if a head counts rows and the ledger is
  /// missing. Throws FailureError.
  explicit LedgerFile(const std::string& path);

  /// Path without symbolic links: the head lies beside the file that the links lead to.
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::optional<std::string> head() const;

  // All return when what they did survives a crash, and throw FailureError.

  /// Appends text. A text that was written in part is removed again as far as possible.
  void append(const std::string& line);
  void cut(std::size_t size);
  /// Replaces the head file in one step.
  void put_head(const std::string& line);

 private:
  Descriptor file_;
  std::string path_;
};

}  // namespace starling
