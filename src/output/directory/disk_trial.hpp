/// A test that a folder accepts the files of a run.
#pragma once

#include <string>

namespace starling {

/// Writes a small HDF5 file, which must not exist, and reads it back. The caller removes the file. Throws FailureError.
void write_trial(const std::string& path);

/// Reads the file that another rank wrote. Throws FailureError if it cannot be read or has another content.
void read_trial(const std::string& path);

}  // namespace starling
