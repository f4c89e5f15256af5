/// The `two-gaussians` generator (method 3; section 6 of its paper). Internal to the data room.
#pragma once

#include <memory>

#include "starling/data/generators/synthetic.hpp"

namespace starling {

[[nodiscard]] std::unique_ptr<Generator> make_two_gaussians(const Spec& spec, const Audience& audience);

}  // namespace starling
