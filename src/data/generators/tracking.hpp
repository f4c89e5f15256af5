/// The `tracking` generator: a target that moves, and clients around it.
#pragma once

#include <memory>

#include "starling/data/generators/synthetic.hpp"

namespace starling {

[[nodiscard]] std::unique_ptr<Generator> make_tracking(const Spec& spec, const Audience& audience);

}  // namespace starling
