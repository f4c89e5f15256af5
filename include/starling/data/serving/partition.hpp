/// How the records of one source are dealt out to clients.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "starling/core/columns.hpp"
#include "starling/core/links.hpp"
#include "starling/core/table.hpp"

namespace starling {

/// What a pass over a source finds for a partition to deal by; records are numbered from 0 in the source's order.
struct Found {
  std::int64_t records = 0;
  Vector labels;                    ///< mapped, one per record; empty unless the partition looks at them
  std::vector<std::int32_t> keys;   ///< number of each record's value in `values`; empty likewise
  std::vector<std::string> values;  ///< distinct values of the key column, ascending: numbers by value, else as text
};

/// A client's records: runs of consecutive numbers, ascending.
class Share {
 public:
  struct Run {
    std::int64_t first = 0;
    std::int64_t count = 0;
  };
  /// Adds records behind those that it has.
  void add(std::int64_t first, std::int64_t count = 1);
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }

 private:
  std::vector<Run> runs_;
  std::int64_t size_ = 0;
};

/// The shares of a block of clients, and the sizes of everybody's.
struct Deal {
  std::vector<std::int64_t> sizes;
  std::vector<Share> shares;
  std::string fingerprint;  ///< of the client of each record; empty where it follows from the numbers alone
};

class Partition {
 public:
  enum class Look { count, labels, keys };

  virtual ~Partition() = default;
  /// What it needs to know of the records.
  [[nodiscard]] virtual Look looks_at() const { return Look::count; }
  /// The column that it deals by, where it looks at keys.
  [[nodiscard]] virtual std::string key() const { return {}; }
  /// Client of each record. Every client keeps the source's order within its share. Deterministic given the seed.
  /// Throws UsageError where the records cannot be dealt so.
  [[nodiscard]] virtual std::vector<Client> assign(const Found& found, Client clients, std::uint64_t seed) const = 0;
  /// The same for clients first … first + count − 1.
  [[nodiscard]] virtual Deal deal(const Found& found, Client clients, Client first, Client count,
                                  std::uint64_t seed) const;
};

[[nodiscard]] const Table<Partition>& partition_table();

}  // namespace starling
