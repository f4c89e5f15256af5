/// The topology family of docs/how-to/add-a-topology.md, from one file: the conformance tests run over it.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "graph/families/families.hpp"
#include "graph/families/indexed.hpp"

namespace starling {

/// A ring with chords: a client and the clients at distances 1 and `reach` on either side, both ways.
inline families::Made make_chords(const Spec& spec, Client n, WeightRule rule) {
  const auto reach = static_cast<Client>(families::whole(spec, "reach", n / 2, 0, n));
  const auto receivers = [=](Client u, Round) {
    std::set<Client> peers;
    for (const Client hop : {Client{1}, reach}) {
      peers.insert((u + hop) % n);
      peers.insert((u + n - hop) % n);
    }
    peers.erase(u);
    return std::vector<Client>(peers.begin(), peers.end());
  };
  const auto degree = [=](Client u) { return receivers(u, 0).size(); };
  return std::make_unique<IndexedGraph>(n, rule, IndexedGraph::Family{spec.text(), receivers, degree});
}

inline TopologyTable::Row chords_row() {
  return {"chords",
          "a ring with chords of one length, both ways",
          {{"reach", "clients that a chord passes on the ring (half of them)"}},
          make_chords};
}

}  // namespace starling
