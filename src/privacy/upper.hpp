/// Printing a loss without making it smaller.
#pragma once

#include <string>

namespace starling {

/// A non-negative loss in six digits, never less than it is; "unbounded" if infinite.
std::string upper(double loss);

}  // namespace starling
