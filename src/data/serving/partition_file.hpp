/// Partitions kept in a file: a line `record,client` per record, in order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/links.hpp"

namespace starling {

/// Client of each record. Throws DataError for a file that is no partition, for another number of records and for
/// clients that do not exist.
[[nodiscard]] std::vector<Client> read_owners(const std::string& path, std::int64_t records, Client clients);

/// Writes the file. Throws FailureError, and leaves no half-written file under the name.
void write_owners(const std::string& path, const std::vector<Client>& owner);

}  // namespace starling
