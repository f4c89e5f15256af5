/// The columns that a file has, whatever they are used for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "data/settings.hpp"

namespace starling {

/// Columns of a dense file.
struct FileColumns {
  std::vector<std::string> names;  ///< none of a file without a header
  std::size_t count = 0;

  /// Whether a name, or else a number from 0, means one of them.
  [[nodiscard]] bool have(const std::string& wanted) const;
};

/// Reads the columns of the file `settings.source`, which must be a regular one.
[[nodiscard]] FileColumns columns_of(const ReadSettings& settings);

/// Leaves of `key`, `id` and `drop` what the file has. In a test set these columns are no features, and nothing else is
/// asked of them.
void keep_roles_in_file(ReadSettings& settings);

}  // namespace starling
