/// Configuration files in TOML (toml.io), by the library toml++.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace starling {

/// A key of a configuration file with its values as an option's text.
struct FileEntry {
  std::string key;
  std::vector<std::string> values;  ///< those of an array, or one
  bool is_array = false;
  long long line = 0;  ///< of the key, from 1
};

/// Whether the name of a file says TOML.
[[nodiscard]] bool is_toml(std::string_view path);

/// Version of toml++; empty where starling was built without it.
[[nodiscard]] std::string toml_version();

/// The keys of a TOML text in the order of lines. Values are text, numbers, true or false, and arrays of these. `path`
/// begins the errors. Throws UsageError, with the line, for what is no TOML, for bytes beyond ASCII, for tables, and
/// for other values; and in a build without toml++.
[[nodiscard]] std::vector<FileEntry> read_toml(std::string_view text, const std::string& path);

}  // namespace starling
