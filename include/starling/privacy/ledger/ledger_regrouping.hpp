/// Ledgers of one group of clients, made of the ledgers of other groups.
#pragma once

#include <string>
#include <vector>

#include "starling/privacy/client_range.hpp"

namespace starling {

/// Writes the ledger that a rank with these clients goes on with. `paths` are the ledgers of one run whose clients
/// these were before, ascending. Each client has the rows that it had: the same reservations and endings. Rows in which
/// all clients begin or take up a run are joined. Hashes are new, since rows have other neighbours. Writes no file if
/// no ledger has any of these clients. Returns when the files are durable. Throws DataError for a damaged ledger, and
/// for ledgers that are not of the same runs, FailureError.
void regroup_ledgers(const std::vector<std::string>& paths, const ClientRange& clients, const std::string& path);

}  // namespace starling
