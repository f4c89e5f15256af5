/// A generator as a source that is read like a file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "starling/data/generators/synthetic.hpp"
#include "starling/data/source.hpp"

namespace starling {

/// The records that a run on `synthetic:SPEC` with this seed and batch size serves to the client, in its order; `name`
/// is what messages call it.
[[nodiscard]] std::unique_ptr<RecordReader> open_generated(std::shared_ptr<const Generator> generator, std::string name,
                                                           std::uint64_t seed, Client client, std::int64_t batch,
                                                           std::int64_t records);

}  // namespace starling
