/// The makers behind mechanism_table, one per file.
#pragma once

#include <memory>

#include "starling/privacy/mechanism.hpp"

namespace starling {

std::unique_ptr<Mechanism> make_none(const Spec& spec, const ReleaseSettings& settings);
std::unique_ptr<Mechanism> make_laplace(const Spec& spec, const ReleaseSettings& settings);
std::unique_ptr<Mechanism> make_dissertation(const Spec& spec, const ReleaseSettings& settings);

}  // namespace starling
