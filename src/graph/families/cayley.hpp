/// Topologies that are the same seen from every client.
#pragma once

#include "abelian_group.hpp"
#include <optional>
#include <vector>

#include "starling/graph/topology.hpp"

namespace starling {

/// Clients are the elements of an Abelian group, and in each phase a client's row is that of client 0, moved: the
/// client is added to every peer. Rings and exponential graphs are such graphs of a cycle, tori of a product of cycles,
/// hypercubes of a product of cycles of two.
struct CayleyGraph {
  struct Phase {
    Round rounds = 1;
    double own = 1;
    std::vector<Arc> in;  ///< of client 0
  };
  AbelianGroup group;
  std::vector<Phase> phases;

  [[nodiscard]] Round period() const;
};

/// The topology as such a graph; none where some row, peers or weights, is not that of client 0 moved. Two groups are
/// tried: the cycle of all clients, and the product of cycles whose places are numbers of client 0's neighbours (as 1
/// and the number of columns are in a torus). Costs a pass over the rows, most often the first ones where there is
/// none.
[[nodiscard]] std::optional<CayleyGraph> as_cayley_graph(const Topology& topology);

/// A path as a circle of twice as many clients, of which u and 2n − 1 − u are client u of the path: in each phase all
/// clients have the same row, as much from one side as from the other, and what would come from beyond an end comes
/// from where a mirror there shows it. Paths by metropolis are such ones. None of other topologies; the weights may
/// differ by 1e-15.
[[nodiscard]] std::optional<CayleyGraph> as_folded_circle(const Topology& topology);

}  // namespace starling
