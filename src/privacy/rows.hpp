/// The makers behind mechanism_table, one per file.
#pragma once

#include <memory>
#include <string>

#include "starling/privacy/mechanism.hpp"

namespace starling {

std::unique_ptr<Mechanism> make_none(const Spec& spec, const ReleaseSettings& settings);
std::unique_ptr<Mechanism> make_laplace(const Spec& spec, const ReleaseSettings& settings);
std::unique_ptr<Mechanism> make_gaussian(const Spec& spec, const ReleaseSettings& settings);
std::unique_ptr<Mechanism> make_dissertation(const Spec& spec, const ReleaseSettings& settings);

/// "0.1", or "between 0.1 and 0.2" where a run has several prices.
std::string size_range(double least, double most);

}  // namespace starling
