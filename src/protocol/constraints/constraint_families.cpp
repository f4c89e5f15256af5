#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "core/text/names.hpp"
#include "files/number_rows.hpp"
#include "files/text.hpp"
#include "protocol/constraints/constraint_set.hpp"

namespace starling {

namespace {

PublicConstraint row_of(const Vector& numbers, std::string name) {
  PublicConstraint row{std::move(name), {}, {}, numbers.back()};
  for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
    if (numbers[i] == 0) continue;
    row.index.push_back(static_cast<std::int32_t>(i));
    row.values.push_back(numbers[i]);
  }
  return row;
}

std::unique_ptr<ConstraintSet> make_linear(const Spec& spec, const ConstraintFacts& facts) {
  const std::string path = spec.require("file");
  auto set = std::make_unique<ConstraintSet>();
  int number = 0;
  for (const std::string& line : read_lines(path, fmt::format("'{}' of --constraint {}", path, spec.text()))) {
    ++number;
    if (line.find_first_not_of(" \t") == std::string::npos || line.front() == '#') continue;
    const std::string where = fmt::format("{}:{}", path, number);
    const Vector numbers = parse_number_row(line, where);
    check(numbers.size() == facts.dimension + 1,
          "{}: {} numbers: the model has {} parameters, and the bound comes after their coefficients. Give {}.", where,
          numbers.size(), facts.dimension, facts.dimension + 1);
    set->fixed.push_back(row_of(numbers, fmt::format("linear:{}:{}", path.substr(path.find_last_of('/') + 1), number)));
    check(!set->fixed.back().index.empty(),
          "{}: all coefficients are zero, so no model can change the value. Delete the line.", where);
  }
  check(!set->fixed.empty(), "'{}' holds no constraint. Each line is a_1,...,a_d,b.", path);
  return set;
}

std::unique_ptr<ConstraintSet> make_box(const Spec& spec, const ConstraintFacts& facts) {
  const double low = spec.number("low");
  const double high = spec.number("high");
  check(low < high && std::isfinite(low) && std::isfinite(high),
        "--constraint {}: from {} to {}: a box has finite bounds, the lower one first.", spec.text(), low, high);
  auto set = std::make_unique<ConstraintSet>();
  for (std::size_t i = 0; i < facts.dimension; ++i) {
    const auto index = static_cast<std::int32_t>(i);
    set->fixed.push_back({fmt::format("box:x{}<={:g}", i, high), {index}, {1.0}, high});
    set->fixed.push_back({fmt::format("box:x{}>={:g}", i, low), {index}, {-1.0}, -low});
  }
  return set;
}

std::int32_t feature_number(const std::string& text, const Spec& spec, const ConstraintFacts& facts) {
  const long long number = parse_integer(text, "--constraint " + spec.text());
  check(number >= 0 && number < static_cast<long long>(facts.features),
        "--constraint {}: there is no feature {}: features are numbered from 0, and there are {}.", spec.text(), number,
        facts.features);
  return static_cast<std::int32_t>(number);
}

/// A feature's name, its number, or FIRST-LAST.
std::vector<std::int32_t> parse_columns(const Spec& spec, const ConstraintFacts& facts) {
  const std::string text = spec.require("column");
  const auto named = std::find(facts.names.begin(), facts.names.end(), text);
  if (named != facts.names.end()) return {static_cast<std::int32_t>(named - facts.names.begin())};
  check(text.find_first_not_of("0123456789-") == std::string::npos && text.front() != '-' && text.back() != '-',
        "--constraint {}: no feature is called '{}'. {}", spec.text(), text,
        did_you_mean(text, facts.names, "", "Give a feature's name, its number from 0, or a range like 2-4."));
  const std::size_t dash = text.find('-');
  const std::int32_t first = feature_number(text.substr(0, dash), spec, facts);
  const std::int32_t last = dash == std::string::npos ? first : feature_number(text.substr(dash + 1), spec, facts);
  check(first <= last, "--constraint {}: features {} to {}: a range begins with its lower number.", spec.text(), first,
        last);
  std::vector<std::int32_t> columns(static_cast<std::size_t>(last - first + 1));
  std::iota(columns.begin(), columns.end(), first);
  return columns;
}

std::unique_ptr<ConstraintSet> make_data(const Spec& spec, const ConstraintFacts& facts) {
  check(facts.scores == 1,
        "--constraint {} with a loss over {} scores: features must add to one score. Choose a loss with one score.",
        spec.text(), facts.scores);
  auto set = std::make_unique<ConstraintSet>();
  set->data.push_back({spec.text(), parse_columns(spec, facts), spec.number("max")});
  check(std::isfinite(set->data[0].bound), "--constraint {}: the maximum must be finite.", spec.text());
  return set;
}

std::unique_ptr<ConstraintSet> make_energy(const Spec& spec, const ConstraintFacts& /*facts*/) {
  const EnergyBudget energy{spec.text(), spec.number("cost", 1), spec.number("byte_cost", 0), spec.number("budget")};
  check(energy.per_message >= 0 && energy.per_byte >= 0 && energy.per_message + energy.per_byte > 0 &&
            std::isfinite(energy.per_message + energy.per_byte),
        "--constraint {}: cost={} byte_cost={}: a message must cost something, and no cost may be negative.",
        spec.text(), energy.per_message, energy.per_byte);
  check(energy.budget > 0 && std::isfinite(energy.budget),
        "--constraint {}: budget={} per round: it must be positive, or no client would ever send.", spec.text(),
        energy.budget);
  auto set = std::make_unique<ConstraintSet>();
  set->energy = energy;
  return set;
}

/// Whether a family's name and a colon stand at `at`.
bool begins_constraint(const ConstraintTable& table, const std::string& text, std::size_t at) {
  const auto& rows = table.rows();
  return std::any_of(rows.begin(), rows.end(),
                     [&](const auto& row) { return text.compare(at, row.name.size() + 1, row.name + ":") == 0; });
}

}  // namespace

double PublicConstraint::value(View x) const {
  return dot(values, index, x) - bound;
}

void ConstraintSet::add(ConstraintSet more) {
  check(!energy || !more.energy, "two energy constraints: a client has one budget. Give one.");
  fixed.insert(fixed.end(), more.fixed.begin(), more.fixed.end());
  data.insert(data.end(), more.data.begin(), more.data.end());
  if (more.energy) energy = std::move(more.energy);
}

const ConstraintTable& constraint_table() {
  static const ConstraintTable table(
      "constraint",
      {{"linear",
        "a.x <= b for each line a_1,...,a_d,b of a CSV file; public",
        {{"file", "the CSV file"}},
        make_linear},
       {"box",
        "low <= x_i <= high for each parameter; public",
        {{"low", "least value"}, {"high", "greatest value"}},
        make_box},
       {"data",
        "what some features add to the score is at most max, on average over records; private",
        {{"column", "feature: its name, its number from 0, or a range like 2-4"}, {"max", "bound on the mean"}},
        make_data},
       {"energy",
        "a client's messages cost at most budget per round on average: it sends only while it can afford it; public",
        {{"cost", "of a message (1)"}, {"budget", "per round"}, {"byte_cost", "of each byte besides (0)"}},
        make_energy}});
  return table;
}

ConstraintSet make_constraints(const std::string& text, const ConstraintFacts& facts, const ConstraintTable& table) {
  ConstraintSet all;
  for (std::size_t from = 0; from <= text.size();) {
    std::size_t plus = text.find('+', from);
    while (plus != std::string::npos && !begins_constraint(table, text, plus + 1)) plus = text.find('+', plus + 1);
    const std::size_t end = std::min(plus, text.size());
    all.add(*table.make(text.substr(from, end - from), facts));
    from = end + 1;
  }
  return all;
}

}  // namespace starling
