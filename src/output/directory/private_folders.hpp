/// Private folders as they stand on a disk: their names, their age, and the files that say whose they are.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/links.hpp"

namespace starling {

/// Private folders of the run in a directory: those below it, else those that private-folders names, on whatever host.
[[nodiscard]] std::vector<std::string> private_folders_of(const std::string& run);

/// Name of a checkpoint in a private folder, before its round.
inline constexpr std::string_view checkpoint_prefix = "checkpoint-";
/// The rounds of the checkpoints among the files of a private folder, rising.
[[nodiscard]] std::vector<Round> checkpoint_rounds(const std::filesystem::directory_iterator& files);

/// File of a folder outside of the run directory, which has the run's token.
inline constexpr const char* token_file = "of-run";
[[nodiscard]] bool has_token(const std::string& folder, const std::string& token);

/// The name of a private folder, as RANK or RANK.MOVES.
struct FolderName {
  int rank = 0;
  int moves = 0;  ///< how often clients had moved before

  [[nodiscard]] std::string text() const;
  /// None for another name.
  [[nodiscard]] static std::optional<FolderName> of(const std::filesystem::path& folder);
};

/// A private folder that a host sees.
struct FolderSight {
  int rank = 0;
  std::string host;
  std::string path;
  std::string id;        ///< the same of two sights of one folder, different of a copy
  Round round = 0;       ///< of the newest checkpoint
  long long ledger = 0;  ///< bytes of the ledger

  [[nodiscard]] auto age() const { return std::tie(round, ledger); }
  /// A line, which in() reads.
  [[nodiscard]] std::string text() const;
  /// In messages.
  [[nodiscard]] std::string shown() const;

  static FolderSight of(int rank, const std::string& host, const std::string& folder);
  static std::vector<FolderSight> in(const std::string& text);
};

/// File of a run directory that says where private folders outside of it are.
inline constexpr const char* folder_index_file = "/private-folders";

/// Its content.
struct FolderIndex {
  struct Line {
    std::string host;
    std::string path;
  };
  std::string token;
  int moves = 0;              ///< before clients came to these folders
  std::vector<Line> folders;  ///< by rank

  static FolderIndex of(const std::string& text);
};

}  // namespace starling
