/// The file run-id of a run directory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/clients/membership.hpp"
#include "core/links.hpp"

namespace starling {

/// The identity of a run, which a resumed run must share. The file run-id has a line for each member.
struct RunIdentity {
  std::string run;                    ///< id
  std::string inputs;                 ///< digest of inputs that neither the configuration nor a ledger identifies
  Client clients = 0;                 ///< number of all clients that it has ever had
  int ranks = 0;                      ///< number of private folders: the ranks of the latest start
  Membership members = Membership();  ///< as read: with which clients it began, and which are lost or have joined
  /// Spec of the graph of the clients that are there now; empty for that of all, without the lost ones.
  std::string rewired = "";
  /// Digest of all that determines their releases since the last change, once it is known.
  std::string determined_by = "";
  /// First client of each rank, where ranks have no blocks of even lengths.
  std::vector<Client> firsts = {};
  /// Number of moves of clients to other private folders (PrivatePlace).
  int moves = 0;
  /// T, into how many batches of a pass each client's records are dealt; 0 where batches are filled.
  Round rounds_of_pass = 0;
  /// NoiseCorrelation::text of the clients' noise over the rounds; empty where it is independent.
  std::string correlation = "";

  /// The layout of clients in private folders.
  [[nodiscard]] Layout layout() const;
  /// The text of run-id.
  [[nodiscard]] std::string text() const;
  /// Reads such a text, and passes over other lines. Throws UsageError; `directory` is that of the run, for its
  /// messages.
  [[nodiscard]] static RunIdentity parse(const std::string& text, const std::string& directory);
  /// The identity of the run in a directory; none where its run-id is missing or says no such thing, as of a run that
  /// cannot be resumed, and so keeps its clients.
  [[nodiscard]] static std::optional<RunIdentity> find(const std::string& directory);
};

}  // namespace starling
