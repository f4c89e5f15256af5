/// The place of a run's private folders: in the run directory, or on the disk of each host (`--private`).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "starling/net/agreement.hpp"

namespace starling {

/// Throws UsageError unless the text is a value of `--private`.
void check_private_place(const std::string& pattern);

/// Private folders of the run in a directory: those below it, else those that private-folders names, on whatever host.
[[nodiscard]] std::vector<std::string> private_folders_of(const std::string& run);

/// Where the ranks' private folders are, as one rank sees it. A folder of an own place holds a file `of-run` with the
/// token of its run. The file private-folders of the run directory has the token, and says of each rank on which host
/// and under which path its folder was last.
class PrivatePlace {
 public:
  /// The place that `pattern` names on this host: {host} stands for the host's name. Empty: the folder `private` of the
  /// run directory. Throws UsageError for other braces.
  PrivatePlace(std::string run, const std::string& pattern);

  /// A random name. It is not secret.
  [[nodiscard]] static std::string make_token();

  /// Whether the folders are outside of the run directory.
  [[nodiscard]] bool is_own() const { return own_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// The private folder of a rank: where it was found, else where it is to be made.
  [[nodiscard]] std::string folder(int rank) const;

  // The following do nothing in the run directory. All are **collective**.

  /// Requires an empty place for a run that begins. What a run has left that never began, is removed. Throws
  /// UsageError.
  void clear(Agreement& agreement, bool never_began);
  /// Marks the rank's folder, which has been made, and notes where the folders of all ranks are.
  void begin(Agreement& agreement);
  /// Marks a folder as one of the run's. Not collective.
  void mark(const std::string& folder) const;
  /// Finds the folders of the `ranks` ranks of an earlier start. Throws UsageError if this rank would lack one that it
  /// needs, or if there are copies of different age. With `lost` no host may have some of them; all ranks must see the
  /// others.
  void find(Agreement& agreement, int ranks, bool lost);
  /// Notes where the folders of all ranks are from now on.
  void note(Agreement& agreement) const;

 private:
  friend std::vector<std::string> private_folders_of(const std::string& run);
  struct Index;  ///< what private-folders says
  [[nodiscard]] Index take_index(Agreement& agreement);
  [[nodiscard]] bool is_of_run(const std::string& folder, const std::string& token) const;
  [[nodiscard]] std::string look(const Index& index, int ranks);
  void require(const Index& index, int ranks, int rank, bool other_ranks) const;

  std::string run_;
  std::string path_;
  std::string host_;
  std::string token_;
  bool own_ = false;
  std::map<int, std::string> found_;  ///< by rank
};

}  // namespace starling
