#include "step_cap_choice.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/check.hpp"
#include "graph/graph.hpp"
#include "graph/masses.hpp"
#include "net/agreement.hpp"
#include "protocol/decentralized/step_cap.hpp"

namespace starling {

namespace {

/// Least mean mass over so many rounds. **Collective.**
double least_mass(const StepCapTerms& terms, Round rounds) {
  if (terms.even || terms.mixing.mixing != Mixing::push_sum) return 1;
  double least = 1;
  terms.agreement.together([&] {
    if (terms.agreement.rank() != 0) return;
    least = least_mean_mass(terms.schedule, {rounds, terms.mixing.gossip_steps, terms.mixing.lazy});
  });
  return terms.agreement.broadcast(declare_public(least));
}

/// For so many rounds. **Collective.**
double cap_for(const StepCapTerms& terms, Round rounds) {
  const double least = least_mass(terms, rounds);
  OmdSettings settings = terms.settings;
  settings.rounds = rounds;
  return std::max(terms.least_cap, repaying_step_cap(settings, least));
}

}  // namespace

bool keeps_masses_even(const Graph& graph) {
  try {
    graph.require_sender_sums();
    graph.require_receiver_sums();
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

double chosen_step_cap(const StepCapTerms& terms) {
  double cap = 1;
  const double asked = cap_for(terms, terms.settings.rounds);
  const double at_first = terms.first_rounds == terms.settings.rounds ? asked : cap_for(terms, terms.first_rounds);
  terms.agreement.together([&] {
    check(asked == at_first,
          "--rounds {} with --resume: the step cap would be {:g}: it is chosen for the number of rounds, and the "
          "rounds played so far have {:g}. Leave --rounds out, or start a run of its own with --step-cap {:g}.",
          terms.settings.rounds, asked, at_first, at_first);
    cap = asked;
  });
  return cap;
}

double chosen_longest_step(const StepCapTerms& terms) {
  if (!terms.settings.falls_to_zero()) return std::numeric_limits<double>::infinity();
  return longest_fair_step(terms.settings, least_mass(terms, terms.first_rounds));
}

std::string digest_of(double step_cap) {
  return step_cap == 1 ? "" : fmt::format(" step cap {:.17g}", step_cap);
}

}  // namespace starling
