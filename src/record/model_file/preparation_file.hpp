/// The part of a model file that says how records are prepared.
#pragma once

#include "starling/data/constants.hpp"
#include "starling/hdf5/file.hpp"

namespace starling {

/// Writes the group `preparation` below `where`: a group's path, or empty for the root.
void write_preparation(const hdf5::File& file, const std::string& where, const PublicConstants& constants);
/// Reads it. Throws DataError, also for fewer than `least` columns.
[[nodiscard]] PublicConstants read_preparation(const hdf5::Input& file, const std::string& where, std::size_t least);

/// All numbers of a dataset. Throws DataError for none, for one of other `sizes`, and for numbers that are not finite.
[[nodiscard]] Vector read_numbers(const hdf5::Input& file, const std::string& dataset, const hdf5::Sizes& sizes);
/// A whole number, `least` to 2^31 − 1, in an attribute of `object`. Throws DataError.
[[nodiscard]] std::size_t read_count(const hdf5::Input& file, const std::string& object, const std::string& attribute,
                                     std::size_t least);

}  // namespace starling
