/// Lines for the owners of one rank's records, in files of the rank's private folder.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/boundary.hpp"
#include "core/links.hpp"

namespace starling {

class OwnersNotes {
 public:
  /// Keeps a line in left-out.txt, once there is a folder.
  void tell(const Secret<std::string>& line);
  /// Client u has these of the `records` records of --test too: their numbers, from 0.
  void note_shared(Client u, const Secret<std::vector<std::size_t>>& numbers, std::size_t records);
  /// Of the `records` records of client u these are not in all parties' files: their numbers, from 0.
  void note_unmatched(Client u, const std::vector<std::size_t>& numbers, std::size_t records);
  /// Names the folder.
  void keep_in(const std::string& private_folder) { private_folder_ = private_folder; }
  /// Writes in-test.txt if records were compared, and not-matched.txt if some are at one party.
  void write_shared() const;

 private:
  std::string private_folder_;                  ///< empty until there is one
  Secret<std::string> lines_;                   ///< wait for the folder
  std::optional<Secret<std::string>> in_test_;  ///< records of --test that clients have; none: not compared
  Secret<std::string> unmatched_;               ///< records that are not in all parties' files
  bool any_unmatched_ = false;
};

}  // namespace starling
