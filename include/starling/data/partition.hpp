/// How the records of one file are dealt out to clients.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "starling/core/columns.hpp"
#include "starling/core/links.hpp"
#include "starling/core/table.hpp"

namespace starling {

class Partition {
 public:
  virtual ~Partition() = default;
  /// Client of each record; labels[i] is the (mapped) label of record i, in file order. Every client keeps file order
  /// within its share. Deterministic given the seed.
  [[nodiscard]] virtual std::vector<Client> assign(View labels, Client clients, std::uint64_t seed) const = 0;
};

[[nodiscard]] const Table<Partition>& partition_table();

}  // namespace starling
