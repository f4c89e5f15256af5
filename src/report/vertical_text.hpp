// Vertical learning in summary.json and in the table at the end of a run. Internal to the record room.
#pragma once

#include "starling/record/figures/vertical_record.hpp"
#include "starling/report/summary_view.hpp"

namespace starling {

/// uplink_bits_per_round, downlink_bits_per_round (one broadcast), uplink_bits, downlink_bits: of messages that carry
/// learning, not of those that scores of test records need.
void add_vertical_traffic(const VerticalFigures& figures, Json& traffic);
/// mse and auc, as they apply.
void add_vertical_metrics(const VerticalFigures& figures, Json& metrics);
/// The key `regret`: static, per_round, played, hindsight, method; null without one.
[[nodiscard]] Json vertical_regret_json(const VerticalFigures& figures);

/// Rows of the table; none of other runs.
[[nodiscard]] std::string vertical_traffic_rows(const SummaryView& summary);
[[nodiscard]] std::string vertical_metric_rows(const SummaryView& summary);

}  // namespace starling
