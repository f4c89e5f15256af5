/// Options of long-term budget constraints.
#pragma once

#include <optional>
#include <string>

#include "options/options.hpp"
#include "protocol/constraints/dual_settings.hpp"

namespace starling {

struct ConstraintOptions {
  std::optional<std::string> constraint;  ///< one or several, joined by +
  // An option that is not given has the default of help, or one that depends on the run.
  std::optional<DualMethod> dual;
  bool shared = false;                   ///< multipliers are common to all clients
  std::optional<double> regularisation;  ///< γ
  std::optional<double> dual_step;       ///< ρ
  std::optional<double> dual_max;        ///< Λ
  std::optional<double> caution;         ///< V'
  std::optional<double> smoothing;       ///< α
  std::optional<PrivateConstraint> how;
  std::optional<double> split;  ///< share of the price that constraints' releases have
  std::optional<double> clip;   ///< of a record's part in constraints on data

  [[nodiscard]] bool any() const { return constraint.has_value(); }
};

/// Adds --constraint, --dual, … to `options`; `constraints` must outlive it.
void add_constraint_options(Options& options, ConstraintOptions& constraints);

}  // namespace starling
