/// Whether a run has learned from a file, so that metrics on it are not those of new records.
#pragma once

#include <optional>
#include <string>

namespace starling {

/// Whether `file` is one of the files from which the run learned, or has the same content. None where that is not
/// known: the folder has no configuration, the run's files are not here, or one of both is no file. Throws DataError.
[[nodiscard]] std::optional<bool> learned_from(const std::string& run, const std::string& file);

}  // namespace starling
