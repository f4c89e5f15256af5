#include "constraint_options.hpp"

#include <initializer_list>
#include <utility>

#include "starling/core/limits.hpp"

namespace starling {

namespace {

using Given = std::pair<const char*, bool>;

void refuse(std::initializer_list<Given> options, const std::string& why) {
  for (const auto& [name, given] : options) check(!given, "--{} {}", name, why);
}

}  // namespace

void add_constraint_options(Options& options, ConstraintOptions& constraints) {
  const char* group = "Constraints";
  options.add({group, "constraint", "WHAT", "",
               "long-term budget constraints (below); several are joined by +. They hold over the whole run, not in "
               "every round",
               setter::text(constraints.constraint), false, named::spec});
  options.add({group, "dual", "HOW", "",
               "saddle (regularised multipliers; the default) or queue (virtual queues; steps are 1/(2 alpha) then)",
               setter::choice<std::optional<DualMethod>>(
                   constraints.dual, {{"saddle", DualMethod::saddle}, {"queue", DualMethod::queue}})});
  options.add({group, "dual-regularisation", "GAMMA", "",
               "saddle: how fast multipliers decay (0.1); less means fewer violations, and a wider swing",
               setter::number(constraints.regularisation, 0, 1e12)});
  options.add({group, "dual-step", "RHO", "",
               "saddle: a dual step is RHO times the step; default: 1, and 0.1 where a constraint is released with "
               "noise",
               setter::number(constraints.dual_step, tiny, 1e12)});
  options.add({group, "dual-max", "LAMBDA", "", "saddle: largest multiplier; default: none",
               setter::number(constraints.dual_max, 0, 1e300)});
  options.add({group, "caution", "V", "", "queue: weight of the loss against the constraints; default: sqrt(T)",
               setter::number(constraints.caution, tiny, 1e15)});
  options.add({group, "queue-smoothing", "ALPHA", "", "queue: steps are 1/(2 ALPHA); default: T",
               setter::number(constraints.smoothing, tiny, 1e15)});
  options.add(
      {group, "private-constraint", "HOW", "",
       "how constraints on data are released: separate (gradient and data vector each by itself; the default) or "
       "composite "
       "(clipped as one vector, and the constraint's value by itself)",
       setter::choice<std::optional<PrivateConstraint>>(
           constraints.how, {{"separate", PrivateConstraint::separate}, {"composite", PrivateConstraint::composite}})});
  options.add({group, "privacy-split", "SHARE", "",
               "share of --epsilon (of the square of --mu) that the second release of a round has (0.5)",
               setter::number(constraints.split, 1e-6, 1 - 1e-6)});
  options.add({group, "constraint-clip", "C", "",
               "bound on a record's part in the constraints on data; default: 1, none where nothing is protected",
               setter::number(constraints.clip, tiny, 1e15)});
}

void check_constraint_options(const ConstraintOptions& constraints, const OmdSettings& omd) {
  const Given gamma{"dual-regularisation", constraints.regularisation.has_value()};
  const Given rho{"dual-step", constraints.dual_step.has_value()};
  const Given most{"dual-max", constraints.dual_max.has_value()};
  const Given caution{"caution", constraints.caution.has_value()};
  const Given alpha{"queue-smoothing", constraints.smoothing.has_value()};
  if (!constraints.any()) {
    refuse({{"dual", constraints.dual.has_value()},
            gamma,
            rho,
            most,
            caution,
            alpha,
            {"private-constraint", constraints.how.has_value()},
            {"privacy-split", constraints.split.has_value()},
            {"constraint-clip", constraints.clip.has_value()}},
           "without --constraint has no meaning; name a constraint");
  } else if (constraints.dual == DualMethod::queue) {
    refuse({gamma, rho, most}, "belongs to --dual saddle (virtual queues have no such thing) leave it out");
    const OmdSettings usual;
    refuse({{"step", omd.step != usual.step},
            {"step-power", omd.step_power != usual.step_power},
            {"step-offset", omd.step_offset != usual.step_offset}},
           "with --dual queue (its steps are 1/(2 alpha)) give --queue-smoothing ALPHA instead");
  } else {
    refuse({caution, alpha}, "belongs to --dual queue (multipliers have no such thing) leave it out");
  }
}

std::string constraints_help() {
  return "\nConstraints:\n" + constraint_table().help();
}

}  // namespace starling
