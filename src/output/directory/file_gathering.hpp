/// Files on their way to another host.
#pragma once

#include <cstddef>
#include <string>

#include "net/agreement.hpp"
#include "output/directory/owners_file.hpp"

namespace starling {

/// Where files go.
struct FileDestination {
  std::string folder;  ///< as the rank sees it
  int rank = 0;
  mode_t mode = readable_by_all;  ///< of new files
};

/// Largest count of bytes that a rank receives at a time, from all ranks together.
constexpr std::size_t most_gathered_bytes = std::size_t{1} << 26;

/// Moves all files below the folder `from` of each rank to one rank, which keeps them under the same relative names. A
/// rank gives no folder (an empty `from`) if it has nothing to move; a folder need not exist. Files hold released
/// values. Each appears whole and durable, and replaces an earlier one. Then the folders are removed. Files travel in
/// pieces, so that no rank holds more than `at_once` bytes of them. **Collective.** Throws FailureError.
void gather_files(Agreement& agreement, const std::string& from, const FileDestination& to,
                  std::size_t at_once = most_gathered_bytes);

}  // namespace starling
