/// Regret in summary.json and in tables. Internal.
#pragma once

#include "starling/report/summary_view.hpp"

namespace starling {

/// The key `regret`; null without one.
[[nodiscard]] Json regret_json(const std::optional<Regret>& regret);
/// Rows of the table at the end of a run; none without regret.
[[nodiscard]] std::string regret_rows(const SummaryView& summary);

}  // namespace starling
