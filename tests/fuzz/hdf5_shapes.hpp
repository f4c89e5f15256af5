/// HDF5 files of all kinds, made as bytes of a fuzzer say.
#pragma once

#include <string>
#include <string_view>

namespace starling::fuzz {

/// A well-formed file, made with the HDF5 library, in which /x, /y and the names of columns may have any small shape,
/// type and storage, or be something else altogether.
[[nodiscard]] std::string hdf5_file(std::string_view choices);

}  // namespace starling::fuzz
