/// Clients whose models a client begins with that joins a run.
#pragma once

#include <vector>

#include "graph/schedule.hpp"

namespace starling {

/// A client that joins, and the clients whose mean model is its first.
struct Parentage {
  Client client = 0;
  std::vector<Client> parents;  ///< ascending
  friend bool operator==(const Parentage&, const Parentage&) = default;
};

/// The parents of clients that join before exchange `from`: the in-neighbours that have a model, in the first exchange
/// in which there are any. Clients that were there have models. Those that join have one from the next exchange on, in
/// the order of the result, so that each follows its parents. Throws FailureError if nobody ever reaches a client.
[[nodiscard]] std::vector<Parentage> parents_of(const Schedule& schedule, const std::vector<Client>& joining,
                                                Round from);

}  // namespace starling
