#include "constraint_options.hpp"

#include <vector>

#include "core/text/limits.hpp"
#include "protocol/constraints/constraint_set.hpp"

namespace starling {

namespace {

/// --dual and the options of both duals need --constraint; those of one dual exclude the other.
std::vector<Relation> of_constraints() {
  return {needs("constraint", "there are no constraints that it could concern", "Name a constraint, or leave it out.")};
}
std::vector<Relation> of_saddle() {
  return {of_constraints()[0], excludes("dual=queue", "virtual queues have no such thing", "Leave it out.")};
}
std::vector<Relation> of_queue() {
  return {of_constraints()[0], needs("dual=queue", "multipliers have no such thing")};
}

void add_private_constraint_options(Options& options, ConstraintOptions& constraints) {
  options.add(
      option("private-constraint", "HOW",
             "how constraints on data are released: separate (gradient and data vector each by itself; the default) or "
             "composite (clipped as one vector, and the constraint's value by itself)",
             {.relations = of_constraints()}),
      constraints.how, {{"separate", PrivateConstraint::separate}, {"composite", PrivateConstraint::composite}});
  options.add(
      option("privacy-split", "SHARE",
             "share of --epsilon (of the square of --mu) that the second release of a round has (0.5)",
             {.range = {1e-6, 1 - 1e-6}, .unit = "share, 0 to 1", .example = "0.5", .relations = of_constraints()}),
      constraints.split);
  options.add(option("constraint-clip", "C",
                     "bound on a record's part in the constraints on data; default: 1, none where nothing is protected",
                     {.range = {tiny, 1e15}, .example = "1", .relations = of_constraints()}),
              constraints.clip);
}

}  // namespace

void add_constraint_options(Options& options, ConstraintOptions& constraints) {
  options.group("Constraints");
  options.add(option("constraint", "WHAT",
                     "long-term budget constraints; several are joined by +. They hold over the whole run, not in "
                     "every round",
                     {.values = [] { return values_of("Kinds of constraint", constraint_table()); },
                      .example = "box:low=-1,high=1",
                      .files = named::spec,
                      .relations = {excludes("deadline", "duals and budgets follow rounds that are in step"),
                                    excludes("async", "duals and budgets follow rounds that are in step")}}),
              constraints.constraint);
  options.add(
      option("dual", "HOW",
             "saddle (regularised multipliers; the default) or queue (virtual queues; steps are 1/(2 alpha) then)",
             {.relations = of_constraints()}),
      constraints.dual, {{"saddle", DualMethod::saddle}, {"queue", DualMethod::queue}});
  options.add(option("dual-scope", "WHOSE",
                     "saddle: client (each client has its own multipliers), or shared (all have the same, which follow "
                     "the mean over all clients: an experiment, since it needs a server or a sum over all ranks in "
                     "each round)",
                     {.relations = of_saddle()}),
              constraints.shared, {{"client", false}, {"shared", true}});
  options.add(option("dual-regularisation", "GAMMA",
                     "saddle: how fast multipliers decay (0.1); less means fewer violations, and a wider swing",
                     {.range = {0, 1e12}, .example = "0.1", .relations = of_saddle()}),
              constraints.regularisation);
  options.add(
      option("dual-step", "RHO",
             "saddle: a dual step is RHO times the step; default: 1, and 0.1 where a constraint is released with noise",
             {.range = {tiny, 1e12}, .example = "1", .relations = of_saddle()}),
      constraints.dual_step);
  options.add(option("dual-max", "LAMBDA", "saddle: largest multiplier; default: none",
                     {.range = {0, 1e300}, .example = "10", .relations = of_saddle()}),
              constraints.dual_max);
  options.add(option("caution", "V", "queue: weight of the loss against the constraints; default: sqrt(T)",
                     {.range = {tiny, 1e15}, .example = "100", .relations = of_queue()}),
              constraints.caution);
  options.add(option("queue-smoothing", "ALPHA", "queue: steps are 1/(2 ALPHA); default: T",
                     {.range = {tiny, 1e15}, .example = "1000", .relations = of_queue()}),
              constraints.smoothing);
  add_private_constraint_options(options, constraints);
}

}  // namespace starling
