/// Ledgers of one group of clients, made of the ledgers of other groups.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "privacy/client_range.hpp"

namespace starling {

/// Clients that join a run, whose accounts begin empty.
struct JoiningClients {
  std::string run;  ///< id
  ClientRange clients;
};

/// Writes the ledger that a rank with these clients goes on with. `paths` are the ledgers of one run whose clients
/// these were before, ascending. Each client has the rows that it had: the same reservations and endings. Rows in which
/// all clients begin or take up a run are joined. Clients of `joining` are in the row with which their run begins, and
/// have no other. Hashes are new, since rows have other neighbours. Writes no file if the ledger would have no client.
/// Returns when the files are durable. Throws DataError for a damaged ledger, and for ledgers that are not of the same
/// runs, FailureError.
void regroup_ledgers(const std::vector<std::string>& paths, const ClientRange& clients, const std::string& path,
                     const std::optional<JoiningClients>& joining = std::nullopt);

}  // namespace starling
