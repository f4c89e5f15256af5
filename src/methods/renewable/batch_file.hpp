/// Sizes of batches by client and round, from a file (`--batch file:FILE`).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "data/batching.hpp"

namespace starling {

/// Rows of three whole numbers: client, round, records. A size holds from its round of a pass on, until the client's
/// next row.
class BatchFile {
 public:
  /// Throws UsageError, which names the file and the row.
  explicit BatchFile(const std::string& path);

  /// The largest size of all clients.
  [[nodiscard]] std::size_t most() const;
  /// Sizes of client u, which the file must have.
  [[nodiscard]] std::shared_ptr<const BatchSizes> of(Client u) const;
  /// Throws UsageError unless the file has sizes of clients 0 to `clients` − 1, and of no others.
  void require_clients(Client clients) const;

 private:
  std::string path_;
  std::map<Client, std::vector<BatchSizes::Step>> steps_;
};

}  // namespace starling
