/// SHA-256 of public things (configurations, topologies, public sources): to compare them between ranks and runs.
#pragma once

#include <string>
#include <string_view>

namespace starling {

/// 64 lower-case hexadecimal digits. Throws FailureError if the cryptographic library fails.
[[nodiscard]] std::string sha256(std::string_view bytes);

/// The same of a file's content, read in pieces. Throws FailureError if it cannot be read.
[[nodiscard]] std::string sha256_of_file(const std::string& path);

[[nodiscard]] std::string to_hex(std::string_view bytes);

}  // namespace starling
