/// Readers of generated records.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "data/generators/synthetic.hpp"
#include "data/source.hpp"

namespace starling {

/// Reader of the records that a run on `synthetic:SPEC` with this seed and batch size serves to the client, in the same
/// order. Messages call the source `name`.
[[nodiscard]] std::unique_ptr<RecordReader> open_generated(std::shared_ptr<const Generator> generator, std::string name,
                                                           std::uint64_t seed, Client client, std::int64_t batch,
                                                           std::int64_t records);

}  // namespace starling
