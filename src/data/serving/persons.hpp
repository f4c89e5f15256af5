/// The persons of a client's records.
#pragma once

#include <cstdint>
#include <vector>

#include "starling/data/serving/partition.hpp"

namespace starling {

/// A client's records, person by person, in the order in which persons come first; a person's in the source's order.
struct PersonShare {
  Share records;                          ///< their numbers in the source
  std::vector<std::int64_t> ends;         ///< records before each person and after the last
  std::vector<std::int64_t> from_source;  ///< of each record its place in the client's share in the source's order
  [[nodiscard]] std::int64_t persons() const { return static_cast<std::int64_t>(ends.size()) - 1; }
};

/// Puts a share into the order of its persons. `person_of` has the person of each record of the source.
[[nodiscard]] PersonShare by_person(const Share& share, const std::vector<std::int32_t>& person_of);

/// Numbers of persons of all clients; `owners` are the clients of the source's records.
[[nodiscard]] std::vector<std::int64_t> persons_of_clients(const std::vector<Client>& owners, Client clients,
                                                           const std::vector<std::int32_t>& person_of);

}  // namespace starling
