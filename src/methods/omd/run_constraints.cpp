#include "run_constraints.hpp"

#include <cmath>
#include <limits>

#include "core/check.hpp"
#include "protocol/constraints/composite_model.hpp"
#include "protocol/constraints/energy_schedule.hpp"
#include "protocol/constraints/long_term_constraints.hpp"
#include "protocol/decentralized/settings.hpp"

namespace starling {

namespace {

constexpr double dual_step_under_noise = 0.1;  // docs/methods/constraints.md: under noise max(0, ·) over-penalises

}  // namespace

RunConstraints::RunConstraints(const ConstraintOptions& options, const ConstraintFacts& facts, Round rounds,
                               bool protects)
    : options_(options),
      set_(make_constraints(*options.constraint, facts)),
      how_(options.how.value_or(PrivateConstraint::separate)),
      smoothing_(options.smoothing.value_or(static_cast<double>(rounds))),
      protects_(protects) {
  check(facts.features > 0 || set_.on_models() == 0,
        "--constraint {} with --loss none: nothing is learned, so that models cannot follow it. Only energy can be "
        "constrained there.",
        *options.constraint);
  refuse_what_has_no_meaning();
  duals_.method = options.dual.value_or(DualMethod::saddle);
  duals_.regularisation = options.regularisation.value_or(duals_.regularisation);
  duals_.step = options.dual_step.value_or(protects && !set_.data.empty() ? dual_step_under_noise : 1);
  duals_.most = options.dual_max.value_or(duals_.most);
  duals_.caution = options.caution.value_or(std::sqrt(static_cast<double>(rounds)));
}

RunConstraints::~RunConstraints() = default;

/// Options that belong to constraints which are not there.
void RunConstraints::refuse_what_has_no_meaning() const {
  const auto refuse = [](const char* option, bool given, const char* why) {
    check(!given, "--{} {}. Leave it out.", option, why);
  };
  if (set_.data.empty()) {
    const char* why = "without a constraint on data: public ones cost nothing and are not released";
    refuse("private-constraint", options_.how.has_value(), why);
    refuse("privacy-split", options_.split.has_value(), why);
    refuse("constraint-clip", options_.clip.has_value(), why);
  }
  if (set_.on_models() == 0) {
    const char* why = "with an energy budget alone: it has no dual on models";
    refuse("dual", options_.dual.has_value(), why);
    refuse("dual-regularisation", options_.regularisation.has_value(), why);
    refuse("dual-step", options_.dual_step.has_value(), why);
    refuse("dual-max", options_.dual_max.has_value(), why);
    refuse("caution", options_.caution.has_value(), why);
    refuse("queue-smoothing", options_.smoothing.has_value(), why);
  }
  refuse("privacy-split", options_.split.has_value() && !protects_, "where nothing is protected");
}

std::string RunConstraints::text() const {
  std::string text;
  for (const PublicConstraint& row : set_.fixed) {
    text += row.name;
    for (std::size_t i = 0; i < row.index.size(); ++i) text += fmt::format(" {}:{:.17g}", row.index[i], row.values[i]);
    text += fmt::format(" <= {:.17g}\n", row.bound);
  }
  return text;
}

void RunConstraints::set_steps(OmdSettings& settings) const {
  if (duals_.method != DualMethod::queue || set_.on_models() == 0) return;
  settings.step = 1 / (2 * smoothing_);
  settings.step_power = 0;
  settings.step_offset = 0;
}

std::optional<SecondPart> RunConstraints::second_part() const {
  if (set_.data.empty()) return std::nullopt;
  SecondPart part;
  part.what =
      how_ == PrivateConstraint::separate ? "features in the constraints on data" : "values of the constraints on data";
  part.clip = options_.clip.value_or(protects_ ? 1.0 : std::numeric_limits<double>::infinity());
  part.dimension = LongTermConstraints::second_dimension(set_, how_);
  part.share = options_.split.value_or(part.share);
  return part;
}

void RunConstraints::start(std::size_t clients, PairedMechanism* pair, std::size_t batch) {
  if (set_.on_models() > 0)
    constraints_ = std::make_unique<LongTermConstraints>(set_, duals_, how_, clients, pair, batch);
}

Model& RunConstraints::model(Model& model) {
  if (set_.data.empty() || how_ == PrivateConstraint::separate) return model;
  composite_ = std::make_unique<CompositeModel>(model, *constraints_);
  return *composite_;
}

const Schedule& RunConstraints::affordable(const Schedule& schedule, std::size_t message_bytes, int steps_per_round,
                                           std::uint64_t seed) {
  if (!set_.energy) return schedule;
  energy_ = std::make_unique<EnergySchedule>(schedule, *set_.energy, message_bytes, steps_per_round, seed);
  return *energy_;
}

}  // namespace starling
