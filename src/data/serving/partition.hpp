/// Partitions of one source's records among clients.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/columns.hpp"
#include "core/links.hpp"
#include "core/text/spec.hpp"

namespace starling {

/// Result of a pass over a source, from which a partition deals. Records are numbered from 0 in the source's order.
struct Found {
  std::int64_t records = 0;
  Vector labels;                    ///< mapped labels, one per record; empty unless the partition looks at labels
  std::vector<std::int32_t> keys;   ///< index into `values`, one per record; empty unless the partition looks at keys
  std::vector<std::string> values;  ///< distinct values of the key column, ascending: numbers by value, else as text
};

/// A client's records: runs of consecutive numbers, ascending.
class Share {
 public:
  struct Run {
    std::int64_t first = 0;
    std::int64_t count = 0;
  };
  /// Appends records.
  void add(std::int64_t first, std::int64_t count = 1);
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }

 private:
  std::vector<Run> runs_;
  std::int64_t size_ = 0;
};

/// The shares of a block of clients, and the sizes of all clients' shares.
struct Deal {
  std::vector<std::int64_t> sizes;
  std::vector<Share> shares;
  std::string fingerprint;  ///< of the client of each record; empty if the numbers of records determine it
};

/// A rule that deals records to clients.
class Partition {
 public:
  enum class Look { count, labels, keys };

  virtual ~Partition() = default;
  /// Property of the records that the rule depends on.
  [[nodiscard]] virtual Look looks_at() const { return Look::count; }
  /// Column to deal by, for Look::keys.
  [[nodiscard]] virtual std::string key() const { return {}; }
  /// Client of each record. A client's share keeps the source's order. Deterministic given the seed. Throws UsageError
  /// for records that cannot be dealt this way.
  [[nodiscard]] virtual std::vector<Client> assign(const Found& found, Client clients, std::uint64_t seed) const = 0;
  /// Shares of clients first … first + count − 1.
  [[nodiscard]] virtual Deal deal(const Found& found, Client clients, Client first, Client count,
                                  std::uint64_t seed) const;
};

[[nodiscard]] const Table<Partition>& partition_table();

/// Client of each record, from a file with a line `record,client` for each, in order. Throws DataError for a file that
/// is no partition, for another number of records and for clients that do not exist.
[[nodiscard]] std::vector<Client> read_owners(const std::string& path, std::int64_t records, Client clients);

/// Writes such a file. Throws FailureError, and leaves no half-written file under the name.
void write_owners(const std::string& path, const std::vector<Client>& owner);

}  // namespace starling
