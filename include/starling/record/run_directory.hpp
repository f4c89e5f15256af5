/// The run directory (design/interface: "The run directory").
#pragma once

#include <string>

#include "starling/core/links.hpp"
#include "starling/net/agreement.hpp"

namespace starling {

class RunDirectory {
 public:
  /// Rank 0 makes the directory, which must not exist or be empty, with config.ini; then each rank its private folder
  /// (0700).
  /// **Collective.** Throws UsageError.
  RunDirectory(const std::string& path, const std::string& configuration, Agreement& agreement, int rank);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string run_file() const { return path_ + "/run.h5"; }
  [[nodiscard]] std::string summary_file() const { return path_ + "/summary.json"; }
  /// Relative to the directory: what run.h5 links to.
  [[nodiscard]] static std::string clients_name(int rank);
  [[nodiscard]] std::string clients_file(int rank) const { return path_ + "/" + clients_name(rank); }
  [[nodiscard]] std::string private_folder(int rank) const;

 private:
  std::string path_;
};

/// A file of the owner of the data: made with mode 0600, in a private folder.
class OwnersFile {
 public:
  explicit OwnersFile(std::string path);
  /// Appends text that depends on private records.
  void append(const Secret<std::string>& text) const { append_text(text.open(OpenKey())); }
  /// Appends text that does not (a header, a key's own bytes).
  void append_text(const std::string& text) const;

 private:
  std::string path_;
};

}  // namespace starling
