// Noise between pairs of clients in `starling omd` (--trust pairs).
#include <algorithm>
#include <cmath>
#include <set>

#include "graph/overlays/overlays.hpp"
#include "omd_method.hpp"
#include "run/privacy/pairs/run_pairs.hpp"
#include "run/stages/run_context.hpp"
#include "run_constraints.hpp"
#include "run_graph.hpp"
#include "tuning.hpp"

namespace starling {

void OmdMethod::choose_pairs() {
  if (!config_.privacy.trusts_pairs) return;
  PairClients clients;
  std::unique_ptr<Schedule> neighbours;
  run_.agreement.together([&] {
    clients = clients_of_pairs();
    if (run_.inputs.rewired.empty()) {
      neighbours = parts_.graph->base();
    } else {
      neighbours = parts_.graph->rewired();
    }
  });
  pairs_ = std::make_shared<RunPairs>(run_.agreement, config_.privacy, std::move(clients), neighbours.get(),
                                      config_.data.seed);
  config_.omd.plays_mixed = config_.omd.absent == OmdSettings::Absent::steps && config_.schedule.absences();
  if (run_.inputs.members.has_changed()) note_left_noise();
}

/// Absent clients release where they step.
PairClients OmdMethod::clients_of_pairs() const {
  PairClients clients = PairClients::all_of(run_.inputs.layout->clients());
  clients.changed = run_.inputs.members.has_changed();
  if (clients.changed) clients.present = run_.inputs.members.present();
  const bool freezes = config_.omd.absent == OmdSettings::Absent::freezes;
  if (!freezes && !config_.schedule.leave) return clients;
  clients.releases = [this, freezes](Client u, Round t) {
    const Attendance attendance = parts_.graph->schedule().attendance(u, t);
    return attendance == Attendance::present || (attendance == Attendance::absent && !freezes);
  };
  if (!config_.schedule.leave) return clients;
  std::set<Round> rounds;
  for (const auto& departure : read_departures(*config_.schedule.leave, clients.all)) {
    if (departure) rounds.insert(*departure);
  }
  clients.departures.assign(rounds.begin(), rounds.end());
  return clients;
}

/// Where clients are lost, what their models still had of the noise of pairs goes with them: a share c² of its variance
/// in a round stays in models, c being what a round's exchanges leave of a disagreement.
void OmdMethod::note_left_noise() {
  const PairTerms& terms = pairs_->terms();
  std::string note = terms.exposure < 1 ? fmt::format(
                                              "noise between pairs begins anew with the {} clients that are "
                                              "there: each is hidden among at least {:.4g}",
                                              run_.inputs.members.present().size(), 1 / terms.exposure)
                                        : fmt::format(
                                              "too few clients are left to hide each other against "
                                              "--collusion {}: each has noise of its own alone",
                                              config_.privacy.collusion);
  const auto lost = static_cast<double>(run_.inputs.members.lost().size());
  if (const std::optional<double> left = parts_.graph->contraction_at_first(); left && lost > 0) {
    const double kept = std::pow(*left, 2 * config_.mixing.gossip_steps);
    const double share = lost / static_cast<double>(run_.inputs.members.clients());
    note += fmt::format(
        ". What had not cancelled in the models of the lost stays in those of the others: as much as "
        "the clients' own noise of some {:.2g} release(s)",
        share * (terms.whole() * terms.whole() - 1) * kept / (1 - std::min(kept, 0.999)));
  }
  run_.notes.push_back(std::move(note));
}

std::optional<double> OmdMethod::hiding_of_pairs() const {
  if (!run_.first_rank() || !may_trust_pairs(config_)) return std::nullopt;
  const std::unique_ptr<Graph> graph = parts_.graph->base();
  return starling::hiding_of_pairs(config_.privacy, graph->clients(), graph.get(), config_.data.seed);
}

void OmdMethod::choose_closing_rounds() {
  if (!pairs_) return;
  require_known_ends(run_.agreement, run_.reads_pipes);
  const Round of_graph = closing_rounds(pairs_->terms(), run_.inputs.layout->clients(), parts_.graph->contraction(),
                                        config_.mixing.gossip_steps);
  const Round wanted = config_.schedule.any() ? 2 * of_graph : of_graph;  // absent clients and lost messages slow it
  config_.omd.closing = std::min(wanted, config_.omd.rounds);
  note_on_closing_ = fmt::format("{} round(s) of mixing alone follow the last one: noise between pairs cancels in them",
                                 config_.omd.closing);
  if (wanted > config_.omd.closing) {
    note_on_closing_ +=
        fmt::format(". This graph would want {}: take one that mixes faster, or more --gossip-steps", wanted);
  }
}

}  // namespace starling
