/// Key files that the owners of the data bring (`--noise-key FILE`), and the checks that they must pass.
#pragma once

#include <span>
#include <string>

#include "privacy/keys/keys.hpp"

namespace starling {

/// Why 32 bytes are no key that a random generator drew, as words for a message; empty if nothing speaks against it.
///
/// Refused are: printable characters alone (a pass phrase); 12 or fewer different bytes; 8 or fewer different
/// hexadecimal digits; one byte value ten times or more; bytes that repeat after at most 16, or that ascend or descend
/// by a fixed step modulo 256. A key of independent uniform bytes is refused with a probability below 2^-44:
///
/// | rule | probability at most |
/// | --- | --- |
/// | printable | (95/256)^32 < 2^-45.7 |
/// | different bytes | C(256,12) (12/256)^32 < 2^-70 |
/// | different digits | C(16,8) 2^-64 < 2^-50 |
/// | one value often | 256 C(32,10) 256^-10 < 2^-46 |
/// | repetition, fixed step | 2^-127 + 2^-240 |
///
/// A test for entropy this is not: it finds keys that somebody typed, not those of a bad generator.
[[nodiscard]] std::string weakness_of(std::span<const unsigned char, 32> key);

/// The key in an owner's file, read as NoiseKey::read does. Throws UsageError as well if group or others have any
/// permission on the file, and if the key is weak; no message quotes the key.
[[nodiscard]] NoiseKey read_owners_key(const std::string& path);

}  // namespace starling
