/// The parts of summary.json and of the table of results. Each part is a file of this folder; summary_text.cpp lists
/// them in order.
#pragma once

#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "output/intervals/interval.hpp"
#include "report/summary.hpp"
#include "report/view/panel.hpp"
#include "report/view/summary_view.hpp"
#include "report/view/table_text.hpp"

namespace starling {

/// One part. A null pointer stands for a part without keys, rows or panels.
struct SummaryPart {
  void (*keys)(const Summary& summary, Json& json);            ///< adds its keys
  std::string (*rows)(const SummaryView& summary) = nullptr;   ///< of the table; empty where the part is missing
  std::vector<Panel> (*panels)(const SummaryView&) = nullptr;  ///< of figures.svg
};

extern const SummaryPart score_part;
extern const SummaryPart interval_part;
extern const SummaryPart study_part;
extern const SummaryPart consensus_part;
extern const SummaryPart pace_part;
extern const SummaryPart tuning_part;
extern const SummaryPart step_part;
extern const SummaryPart regret_part;
extern const SummaryPart constraint_part;
extern const SummaryPart privacy_part;
extern const SummaryPart members_part;
extern const SummaryPart traffic_part;

/// The intervals of a summary under this key; empty where it has none.
[[nodiscard]] std::vector<Interval> intervals_of(const SummaryView& summary, const std::string& key = "intervals");
/// Clients whose paths have not settled; without clients, none stands for the one path.
using Unsettled = std::set<std::optional<Client>>;
[[nodiscard]] Unsettled unsettled_of(const SummaryView& summary);
/// The table of coefficients and the joint test of `starling infer`; empty for other commands.
[[nodiscard]] std::string coefficient_table(const SummaryView& summary);
/// The cells of a study; empty for other runs.
[[nodiscard]] std::vector<StudyCell> study_of(const SummaryView& summary);
/// The number of clients that are gone for good.
[[nodiscard]] std::int64_t clients_lost(const SummaryView& summary);
/// The traffic of the first edges.
[[nodiscard]] std::string edge_rows(const SummaryView& summary);
/// Number of edges; null where there are more than were counted individually.
[[nodiscard]] Json edge_count(const Summary& summary);

/// The mean of a sum over `count` items; NaN for none.
[[nodiscard]] inline double mean(double total, std::int64_t count) {
  return count > 0 ? total / static_cast<double>(count) : std::nan("");
}

}  // namespace starling
