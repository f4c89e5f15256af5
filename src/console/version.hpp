#pragma once

#include <string>

namespace starling {

/// Version and git revision, as "0.1.0 (abc1234)".
[[nodiscard]] std::string version();
/// Whether starling is the program of this process, and not a library in another one.
[[nodiscard]] bool is_own_program();
/// A name of this build of starling: the linker's digest of all that it is made of (40 hexadecimal digits). Without
/// such a digest it is the SHA-256 of the file, which takes longer than all else before the first round.
[[nodiscard]] std::string build_digest();
/// The text of --version: the program and the libraries that it is built on.
[[nodiscard]] std::string version_text();

}  // namespace starling
