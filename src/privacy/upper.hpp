/// Text of a loss, rounded upwards.
#pragma once

#include <string>

namespace starling {

/// Non-negative loss in six digits, rounded upwards; "unbounded" if infinite.
std::string upper(double loss);

}  // namespace starling
