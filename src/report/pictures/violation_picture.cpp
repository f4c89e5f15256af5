#include <algorithm>

#include "core/check.hpp"
#include "files/text_files.hpp"
#include "gnuplot.hpp"
#include "output/figures/constraint_figures.hpp"
#include "report/pictures/pictures.hpp"

namespace starling {

namespace {

constexpr std::size_t most_drawn_constraints = 10;

/// The constraints with the greatest violations, by number, ascending.
std::vector<std::size_t> drawn_of(const ConstraintReport& report) {
  std::vector<std::size_t> numbers(report.constraints.size());
  for (std::size_t j = 0; j < numbers.size(); ++j) numbers[j] = j;
  const auto size = [&](std::size_t j) { return report.constraints[j].violation.value_or(0); };
  std::ranges::stable_sort(numbers, [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
  numbers.resize(std::min(numbers.size(), most_drawn_constraints));
  std::ranges::sort(numbers);
  return numbers;
}

Curve curve_of(const ViolationCurve& all, const std::vector<Vector>& values, std::size_t j, const std::string& title) {
  Curve curve{title, {}};
  for (std::size_t r = 0; r < values.size(); ++r) {
    curve.points.emplace_back(static_cast<double>(all.rounds[r]), values[r][j]);
  }
  return curve;
}

}  // namespace

std::string write_violations(const std::string& folder, const ConstraintReport& report) {
  const ViolationCurve& curve = report.curve;
  std::string text = "round,constraint,violation,dual_mean,dual_max\n";
  for (std::size_t r = 0; r < curve.violations.size(); ++r) {
    for (std::size_t j = 0; j < curve.names.size(); ++j) {
      text += fmt::format("{},{},{},{},{}\n", curve.rounds[r], csv_quoted(curve.names[j]),
                          csv_field(curve.violations[r][j]), csv_field(curve.dual_means[r][j]),
                          csv_field(curve.dual_maxima[r][j]));
    }
  }
  write_text(folder + "/violation.csv", text);
  Panel violations{"Cumulative violation of long-term constraints",
                   "sum of c over rounds and clients",
                   true,
                   {},
                   "never above zero, or withheld"};
  Panel duals{"Duals, mean over clients", "dual", false, {}, "no dual is on record"};
  for (const std::size_t j : drawn_of(report)) {
    const auto& growth = report.constraints[j].growth;
    const std::string title = curve.names[j] + (growth ? fmt::format(", exponent {:.2f}", growth->exponent) : "");
    violations.curves.push_back(curve_of(curve, curve.violations, j, title));
    duals.curves.push_back(curve_of(curve, curve.dual_means, j, curve.names[j]));
  }
  return draw(folder, "violation.gp", {{"violation", {std::move(violations), std::move(duals)}}}, {});
}

}  // namespace starling
