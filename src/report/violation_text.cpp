// Long-term constraints in summary.json and in the table at the end of a run.
#include <cmath>

#include "starling/report/summary_view.hpp"

namespace starling {

namespace {

constexpr std::size_t most_listed_constraints = 10;

std::string row_of(const SummaryView& constraint) {
  const double violation = constraint.number("violation");
  const double exponent = constraint.number("violation_exponent");
  return fmt::format("{}: {}{}; dual {} mean, {} most", constraint.text("name"),
                     std::isfinite(violation) ? fmt::format("{:.6g}", violation) : "withheld",
                     std::isfinite(exponent) ? fmt::format(", growing as t^{:.2f}", exponent) : "",
                     shown(constraint.number("dual_final.mean"), "{:.4g}"),
                     shown(constraint.number("dual_final.max"), "{:.4g}"));
}

}  // namespace

Json constraints_json(const std::vector<ConstraintFigures>& constraints) {
  Json list = Json::array();
  for (const ConstraintFigures& each : constraints) {
    list.push_back(
        {{"name", each.name},
         {"private", each.on_data},
         {"violation", number_json(each.violation)},
         {"violation_exponent", each.growth ? number_json(each.growth->exponent) : Json(nullptr)},
         {"violation_exponent_error", each.growth ? number_json(each.growth->standard_error) : Json(nullptr)},
         {"dual_final", {{"mean", number_json(each.dual_mean)}, {"max", number_json(each.dual_max)}}}});
  }
  return list;
}

std::string constraint_rows(const SummaryView& summary) {
  const std::vector<SummaryView> all = summary.list("constraints");
  std::string text;
  for (std::size_t j = 0; j < all.size() && j < most_listed_constraints; ++j) {
    text += table_row(j == 0 ? "violation" : "", row_of(all[j]));
  }
  if (all.size() > most_listed_constraints) {
    text +=
        table_row("", fmt::format("... {} more constraints, in summary.json", all.size() - most_listed_constraints));
  }
  return text;
}

}  // namespace starling
