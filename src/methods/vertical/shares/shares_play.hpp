/// The rounds and results of `starling vertical --protocol shares`.
#pragma once

#include <memory>

namespace starling {

class Method;
class Play;
class SharesRule;
struct BegunRun;
struct VerticalSetting;

/// The play of a run on shares, by its rule. **Collective.**
[[nodiscard]] std::unique_ptr<Play> make_shares_play(const BegunRun& begun, const Method& method,
                                                     VerticalSetting& setting, const SharesRule& rule);

}  // namespace starling
