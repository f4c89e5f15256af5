/// The rounds and results of `starling vertical --protocol shares`.
#pragma once

#include <memory>

#include "vertical_method.hpp"

namespace starling {

/// The play of a run on shares, whose rule `setting` has. **Collective.**
[[nodiscard]] std::unique_ptr<Play> make_shares_play(const BegunRun& begun, const Method& method,
                                                     VerticalSetting& setting);

}  // namespace starling
