/// The content of a model file (docs/reference/model-h5.md).
#pragma once

#include "starling/hdf5/file.hpp"
#include "starling/record/model_file/saved_model.hpp"

namespace starling {

/// Whether a model of this kind is a network, or has one as its head.
[[nodiscard]] inline bool has_layers(SavedModel::Kind kind) {
  using Kind = SavedModel::Kind;
  return kind == Kind::network || kind == Kind::vertical || kind == Kind::head || kind == Kind::embedding;
}

/// Names of the columns of a vertical model's parties, one after the other; none if a party's have none.
[[nodiscard]] std::vector<std::string> names_of_parties(const SavedModel& model);

void write_content(const hdf5::File& file, const SavedModel& model);
/// Throws DataError, and the UsageErrors of layers that do not fit each other.
[[nodiscard]] SavedModel read_content(const hdf5::Input& file);

}  // namespace starling
