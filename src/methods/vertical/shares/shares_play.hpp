/// The rounds and results of `starling vertical --protocol shares`.
#pragma once

#include <memory>

#include "methods/vertical/setting/vertical_setting.hpp"
#include "run/stages/method.hpp"
#include "shares_rule.hpp"

namespace starling {

/// The play of a run on shares, by its rule. **Collective.**
[[nodiscard]] std::unique_ptr<Play> make_shares_play(const BegunRun& begun, const Method& method,
                                                     VerticalSetting& setting, const SharesRule& rule);

}  // namespace starling
