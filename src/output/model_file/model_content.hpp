/// The content of a model file (docs/reference/model-h5.md).
#pragma once

#include "hdf5/file.hpp"
#include "output/model_file/saved_model.hpp"

namespace starling {

/// Names of the columns of a vertical model's parties, one after the other; none if a party's have none.
[[nodiscard]] std::vector<std::string> names_of(const std::vector<SavedModel>& parties);

void write_content(const hdf5::File& file, const SavedModel& model);
/// Throws DataError, and the UsageErrors of layers that do not fit each other.
[[nodiscard]] SavedModel read_content(const hdf5::Input& file);

// Preparation of records (preparation_file.cpp).

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
