/// The `drift` generator (docs/methods/decentralized.md).
#pragma once

#include <memory>

#include "starling/data/generators/synthetic.hpp"

namespace starling {

[[nodiscard]] std::unique_ptr<Generator> make_drift(const Spec& spec, const Audience& audience);

}  // namespace starling
