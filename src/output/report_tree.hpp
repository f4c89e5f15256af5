/// Sums of clients' figures over a fixed binary tree of all clients, whose bits do not depend on the layout.
///
/// A node of the tree covers 2^j clients from a multiple of 2^j on. The figures of a node are those of its two halves
/// together, and of a client at a leaf. A rank adds up the largest nodes whose clients are all its own, and rank 0 adds
/// up the nodes of all ranks: floating-point numbers meet in the same order for any layout.
#pragma once

#include <cstddef>
#include <vector>

#include "core/columns.hpp"
#include "core/links.hpp"

namespace starling {

/// Nodes of the tree, ascending. Each is a vector of equal length: `fields` figures that add up, and the sum of models.
class ReportTree {
 public:
  /// The first of the figures, of every node.
  enum Field : std::size_t {
    first,    ///< first client
    clients,  ///< number of clients
    spread,   ///< Σ ‖x_u − mean of the node‖²
    figures,  ///< the place of the first figure that adds up
  };

  /// `head` is the number of fields and figures before the models.
  explicit ReportTree(std::size_t head) : head_(head) {}
  /// Adds a node that follows all others, and joins it with those before it where both are halves of one.
  void add(Vector node);
  [[nodiscard]] const std::vector<Vector>& nodes() const { return nodes_; }
  /// All nodes together, in their order. There must be one.
  [[nodiscard]] Vector total() const;

 private:
  void join(Vector& left, const Vector& right) const;
  std::size_t head_;
  std::vector<Vector> nodes_;
};

}  // namespace starling
