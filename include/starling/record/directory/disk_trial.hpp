/// Whether a folder takes what runs write.
#pragma once

#include <string>

namespace starling {

/// Writes a small HDF5 file, which must not exist, closes it, and reads it back. Throws FailureError saying what went
/// wrong; the file stays for the caller to remove.
void write_trial(const std::string& path);

/// The same without writing: the file of another rank. Throws FailureError if it cannot be read or holds something
/// else.
void read_trial(const std::string& path);

}  // namespace starling
