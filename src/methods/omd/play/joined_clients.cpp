#include "joined_clients.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "core/boundary.hpp"
#include "core/clients/membership.hpp"
#include "core/numerics/kernels.hpp"
#include "graph/overlays/overlays.hpp"
#include "graph/parents.hpp"
#include "methods/omd/run_graph.hpp"
#include "protocol/decentralized/omd.hpp"
#include "run/stages/run_context.hpp"

namespace starling {

namespace {

/// The mean models of parents, which are released values. One parent's model at a time goes to all ranks.
/// **Collective.**
std::map<Client, Vector> mean_models(RunContext& run, DecentralizedOmd& omd, std::size_t dimension,
                                     const std::vector<Parentage>& parents) {
  std::map<Client, Vector> sums;
  std::set<Client> known;
  for (const Parentage& each : parents) {
    sums.emplace(each.client, Vector(dimension, 0.0));
    known.insert(each.parents.begin(), each.parents.end());
  }
  for (const Client parent : known) {
    if (sums.contains(parent)) continue;
    const bool here =
        parent >= run.inputs.first_client() && parent < run.inputs.first_client() + run.inputs.client_count();
    Released<Vector> own = declare_public(Vector());
    if (here) {
      own = post_process([](const Columns& one) { return Vector(one[0].begin(), one[0].end()); },
                         omd.some_models(static_cast<std::size_t>(parent - run.inputs.first_client()), 1));
    }
    const Vector model = run.agreement.all_gather(own)[static_cast<std::size_t>(run.inputs.layout->rank_of(parent))];
    for (const Parentage& each : parents) {
      if (std::ranges::binary_search(each.parents, parent)) axpy(1, model, sums[each.client]);
    }
  }
  for (const Parentage& each : parents) {
    Vector& sum = sums[each.client];
    for (const Client parent : each.parents) {
      if (sums.contains(parent)) axpy(1, sums[parent], sum);
    }
    scale(1 / static_cast<double>(each.parents.size()), sum);
  }
  return sums;
}

}  // namespace

void begin_joined(RunContext& run, const RunGraph& graph, int gossip_steps, DecentralizedOmd& omd,
                  std::size_t dimension, std::size_t first) {
  run.agreement.together([&] {
    if (run.inputs.client_count() > 0) omd.begin_anew();
  });
  std::vector<Client> joining;
  Round round = 0;
  for (std::size_t i = first; i < run.inputs.members.changes().size(); ++i) {
    const Membership::Change& change = run.inputs.members.changes()[i];
    round = change.round;
    if (change.kind == Membership::Change::Kind::loss) continue;
    std::ranges::copy_if(change.clients, std::back_inserter(joining),
                         [&](Client u) { return !run.inputs.members.is_lost(u); });
  }
  if (joining.empty()) return;
  std::vector<Parentage> parents;
  run.agreement.together([&] { parents = parents_of(*graph.rewired(), joining, round * gossip_steps); });
  const std::map<Client, Vector> models = mean_models(run, omd, dimension, parents);
  for (const auto& [u, model] : models) {
    if (u < run.inputs.first_client() || u >= run.inputs.first_client() + run.inputs.client_count()) continue;
    omd.begin_at(static_cast<std::size_t>(u - run.inputs.first_client()), declare_public(model));
  }
}

}  // namespace starling
