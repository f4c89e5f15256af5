/// The `drift` generator (method 1). Internal to the data room.
#pragma once

#include <memory>

#include "starling/data/generators/synthetic.hpp"

namespace starling {

[[nodiscard]] std::unique_ptr<Generator> make_drift(const Spec& spec, const Audience& audience);

}  // namespace starling
