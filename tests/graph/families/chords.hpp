/// The topology family of docs/how-to/add-a-topology.md, from one file: the conformance tests run over it.
#pragma once

#include "graph/families/families.hpp"
#include "graph/families/indexed.hpp"
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace starling {

/// A ring with chords: a client and the clients at distances 1 and `reach` on either side, both ways.
class Chords final : public IndexedGraph {
 public:
  Chords(Client n, WeightRule rule, std::string spec, Client reach)
      : IndexedGraph(n, rule, 1, std::move(spec)), reach_(reach) {}

 private:
  [[nodiscard]] std::vector<Client> receivers(Client u, Round) const override {
    std::set<Client> peers;
    for (const Client hop : {Client{1}, reach_}) {
      peers.insert((u + hop) % clients());
      peers.insert((u + clients() - hop) % clients());
    }
    peers.erase(u);
    return {peers.begin(), peers.end()};
  }
  [[nodiscard]] std::size_t degree(Client u) const override { return receivers(u, 0).size(); }

  Client reach_;
};

inline families::Made make_chords(const Spec& spec, Client n, WeightRule rule) {
  const auto reach = static_cast<Client>(families::whole(spec, "reach", n / 2, 0, n));
  return std::make_unique<Chords>(n, rule, spec.text(), reach);
}

inline TopologyTable::Row chords_row() {
  return {"chords",
          "a ring with chords of one length, both ways",
          {{"reach", "clients that a chord passes on the ring (half of them)"}},
          make_chords};
}

}  // namespace starling
