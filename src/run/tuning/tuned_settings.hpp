/// Settings that a command chose for its user.
#pragma once

#include <string>
#include <vector>

#include "report/tuning.hpp"

namespace starling {

/// Prints each choice with its reason to stderr, and then the outlook, if there is one.
void print_tuning(const std::vector<TunedValue>& values, const std::string& outlook);

/// Keeps a number that was chosen within the range of its option: norms of records may be anything.
void keep_in_range(TunedValue& chosen);

}  // namespace starling
