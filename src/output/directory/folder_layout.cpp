#include <algorithm>
#include <cstddef>

#include "core/check.hpp"
#include "output/directory/private_place.hpp"

namespace starling {

namespace {

/// Numbers of the folders that have clients and are of use, ascending.
std::vector<int> usable_folders(const Layout& before, const std::vector<int>& gone) {
  std::vector<int> usable;
  for (int r = 0; r < before.ranks(); ++r) {
    if (before.count(r) > 0 && !std::ranges::binary_search(gone, r)) usable.push_back(r);
  }
  return usable;
}

bool sees_folder(const RanksOfPlace& place, int folder) {
  return std::ranges::binary_search(place.folders, folder);
}

/// Ranks on a host without a folder of use would have nothing to do, unless they are behind the others and get new
/// clients.
void refuse_idle_hosts(const std::vector<RanksOfPlace>& places, const std::vector<int>& usable, std::size_t last,
                       bool joining) {
  int first = 0;
  for (std::size_t k = 0; k < places.size(); ++k) {
    check((joining && k > last) || std::ranges::any_of(usable, [&](int r) { return sees_folder(places[k], r); }),
          "rank {} is on {}, which has no private folder of the run: clients stay on the hosts of their folders; only "
          "clients that join go to others, to ranks behind all that had clients. Start ranks on the hosts that have "
          "folders.",
          first, places[k].host);
    first += places[k].ranks;
  }
}

/// The first clients of ranks that share the clients from `first` to before `end` evenly.
void share_evenly(Client first, Client end, int ranks, std::vector<Client>& firsts) {
  const Layout even(end - first, ranks);
  for (int r = 0; r < ranks; ++r) firsts.push_back(first + even.first(r));
}

}  // namespace

Layout layout_of_folders(const Layout& before, const std::vector<int>& gone, Client clients,
                         const std::vector<RanksOfPlace>& places) {
  const std::vector<int> usable = usable_folders(before, gone);
  std::vector<Client> ends(places.size(), 0);  // the first client behind those of each place
  std::size_t p = 0;
  for (const int r : usable) {
    const std::size_t from = p;
    while (p < places.size() && !sees_folder(places[p], r)) ++p;
    check(p < places.size(),
          "no rank from those on {} on sees the private folder of clients {} to {}: each rank has clients that follow "
          "one another, and each client stays on the host of its private folder. Start ranks on the hosts in the order "
          "of their clients, as private-folders of the run directory has them.",
          places[from].host, before.first(r), before.first(r + 1) - 1);
    ends[p] = before.first(r + 1);
  }
  refuse_idle_hosts(places, usable, p, clients > before.clients());
  ends[p] = p + 1 < places.size() ? before.clients() : clients;
  std::vector<Client> firsts;
  Client first = 0;
  for (std::size_t k = 0; k <= p; ++k) {
    share_evenly(first, std::max(first, ends[k]), places[k].ranks, firsts);
    first = std::max(first, ends[k]);
  }
  int behind = 0;
  for (std::size_t k = p + 1; k < places.size(); ++k) behind += places[k].ranks;
  if (behind > 0) share_evenly(first, clients, behind, firsts);
  firsts.push_back(clients);
  return Layout::of_blocks(std::move(firsts));
}

}  // namespace starling
