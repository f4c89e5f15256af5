// Violations of long-term constraints.
#include "output/figures/constraint_figures.hpp"
#include "parts.hpp"

namespace starling {

namespace {

constexpr std::size_t most_listed_constraints = 10;

std::string row_of_constraint(const SummaryView& constraint) {
  const double violation = constraint.number("violation");
  const double exponent = constraint.number("violation_exponent");
  return fmt::format("{}: {}{}; dual {} mean, {} most", constraint.text("name"),
                     std::isfinite(violation) ? fmt::format("{:.6g}", violation) : "withheld",
                     std::isfinite(exponent) ? fmt::format(", growing as t^{:.2f}", exponent) : "",
                     shown(constraint.number("dual_final.mean"), "{:.4g}"),
                     shown(constraint.number("dual_final.max"), "{:.4g}"));
}

void add_constraints(const Summary& summary, Json& json) {
  Json list = Json::array();
  for (const ConstraintFigures& each : summary.get<std::vector<ConstraintFigures>>()) {
    list.push_back(
        {{"name", each.name},
         {"private", each.on_data},
         {"violation", number_json(each.violation)},
         {"violation_exponent", each.growth ? number_json(each.growth->exponent) : Json(nullptr)},
         {"violation_exponent_error", each.growth ? number_json(each.growth->standard_error) : Json(nullptr)},
         {"dual_final", {{"mean", number_json(each.dual_mean)}, {"max", number_json(each.dual_max)}}}});
  }
  json["constraints"] = std::move(list);
}

std::string constraint_rows(const SummaryView& summary) {
  return listed_rows("violation", summary.list("constraints"), most_listed_constraints, " constraints, in summary.json",
                     row_of_constraint);
}

}  // namespace

const SummaryPart constraint_part{add_constraints, constraint_rows};

}  // namespace starling
