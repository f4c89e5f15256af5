/// Figures of mixing in summary.json and tables: step debt, effective weights and small masses.
#pragma once

#include <string>

#include "starling/report/summary_view.hpp"

namespace starling {

void add_mixing_figures(const Summary& summary, Json& json);

/// The rows of what is unusual; "" where nothing is.
[[nodiscard]] std::string mixing_rows(const SummaryView& summary);

}  // namespace starling
