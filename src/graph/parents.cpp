#include "graph/parents.hpp"

#include <algorithm>
#include <set>

#include "core/check.hpp"
#include "core/clients/membership.hpp"

namespace starling {

std::vector<Parentage> parents_of(const Schedule& schedule, const std::vector<Client>& joining, Round from) {
  constexpr Round most_exchanges = 100'000;
  std::set<Client> without(joining.begin(), joining.end());
  std::vector<Parentage> all;
  for (Round t = from; !without.empty(); ++t) {
    check<FailureError>(t - from < most_exchanges, "nobody sends to clients {}, which join: they need a first model.",
                        list_of_clients({without.begin(), without.end()}));
    const std::size_t before = all.size();
    for (const Client u : without) {
      std::vector<Client> parents;
      for (const Arc& arc : schedule.links(u, t).in) {
        if (!without.contains(arc.peer)) parents.push_back(arc.peer);
      }
      std::sort(parents.begin(), parents.end());
      if (!parents.empty()) all.push_back({u, std::move(parents)});
    }
    for (std::size_t i = before; i < all.size(); ++i) without.erase(all[i].client);
  }
  return all;
}

}  // namespace starling
