/// The `two-gaussians` generator (docs/methods/renewable.md; section 6 of the paper cited there).
#pragma once

#include <memory>

#include "starling/data/generators/synthetic.hpp"

namespace starling {

[[nodiscard]] std::unique_ptr<Generator> make_two_gaussians(const Spec& spec, const Audience& audience);

}  // namespace starling
