/// The clients of ranks that read the private folders of an earlier start.
#pragma once

#include <string>
#include <vector>

#include "core/links.hpp"

namespace starling {

/// Ranks that follow one another and see the same private folders.
struct RanksOfPlace {
  int ranks = 0;
  std::string host;          ///< of the first of them
  std::vector<int> folders;  ///< numbers of the private folders that they see, ascending
};

/// A layout of `clients` clients, the first of which have private folders with the layout `before`. Folders `gone`
/// (ascending) are of no use. The clients of each other folder are on ranks that see it; ranks of one place share
/// theirs evenly. Clients of gone folders go with their neighbours. New clients are on the places behind those of the
/// others, or on the last of these. Throws UsageError if no such layout exists, since each rank has one contiguous
/// block, or if a place has no folder of use and gets no new client.
[[nodiscard]] Layout layout_of_folders(const Layout& before, const std::vector<int>& gone, Client clients,
                                       const std::vector<RanksOfPlace>& places);

}  // namespace starling
