/// What must hold of the records of a source, whatever its format.
#pragma once

#include "data/source.hpp"

namespace starling::fuzz {

/// Reads a source to its end: finite numbers, indices ascending from 0 and below the number of features, as many
/// features in every dense record, and the same labels once more after going back to the start and to a mark on the
/// way. Throws what the reader throws.
void read_soundly(const std::string& source, const ReadSettings& settings);

}  // namespace starling::fuzz
