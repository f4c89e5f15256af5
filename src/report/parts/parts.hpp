/// The parts of summary.json and of the table of results. Each part is a file of this folder; summary_text.cpp lists
/// them in order.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/summary.hpp"
#include "report/view/summary_view.hpp"
#include "report/view/table_text.hpp"

namespace starling {

/// One part. A null pointer stands for a part without keys, or without rows.
struct SummaryPart {
  void (*keys)(const Summary& summary, Json& json);  ///< adds its keys
  std::string (*rows)(const SummaryView& summary);   ///< rows of the table; empty where the part is missing
};

void add_score_keys(const Summary& summary, Json& json);
[[nodiscard]] std::string score_rows(const SummaryView& summary);

void add_interval_keys(const Summary& summary, Json& json);
[[nodiscard]] std::string interval_rows(const SummaryView& summary);
/// The intervals of a summary under this key; empty where it has none.
[[nodiscard]] std::vector<Interval> intervals_of(const SummaryView& summary, const std::string& key = "intervals");
/// The table of coefficients and the joint test of `starling infer`; empty for other commands.
[[nodiscard]] std::string coefficient_table(const SummaryView& summary);

void add_study_keys(const Summary& summary, Json& json);
/// The cells of a study; empty for other runs.
[[nodiscard]] std::vector<StudyCell> study_of(const SummaryView& summary);

/// The number of clients that are gone for good.
[[nodiscard]] std::int64_t clients_lost(const SummaryView& summary);

void add_mass_keys(const Summary& summary, Json& json);
[[nodiscard]] std::string mass_rows(const SummaryView& summary);
void add_pace_keys(const Summary& summary, Json& json);
[[nodiscard]] std::string pace_rows(const SummaryView& summary);
void add_step_keys(const Summary& summary, Json& json);
[[nodiscard]] std::string step_rows(const SummaryView& summary);

void add_tuning_keys(const Summary& summary, Json& json);
[[nodiscard]] std::string tuning_rows(const SummaryView& summary);

void add_regret_keys(const Summary& summary, Json& json);
[[nodiscard]] std::string regret_rows(const SummaryView& summary);

void add_constraint_keys(const Summary& summary, Json& json);
[[nodiscard]] std::string constraint_rows(const SummaryView& summary);

void add_privacy_keys(const Summary& summary, Json& json);
[[nodiscard]] std::string privacy_rows(const SummaryView& summary);

void add_traffic_keys(const Summary& summary, Json& json);
[[nodiscard]] std::string traffic_rows(const SummaryView& summary);
/// The traffic of the first edges.
[[nodiscard]] std::string edge_rows(const SummaryView& summary);
/// Number of edges; null where there are more than were counted individually.
[[nodiscard]] Json edge_count(const Summary& summary);

/// The mean of a sum over `count` items; NaN for none.
[[nodiscard]] inline double mean(double total, std::int64_t count) {
  return count > 0 ? total / static_cast<double>(count) : std::nan("");
}

}  // namespace starling
