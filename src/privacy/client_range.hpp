/// A range of adjacent clients.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/links.hpp"

namespace starling {

/// The clients first, first + 1, …, through. A single client is a range, too.
struct ClientRange {
  ClientRange() = default;
  ClientRange(Client only) : first(only), through(only) {}  // NOLINT(google-explicit-constructor)
  ClientRange(Client from, Client to) : first(from), through(to) {}

  [[nodiscard]] bool has(Client client) const { return first <= client && client <= through; }
  [[nodiscard]] std::int64_t count() const { return std::int64_t{through} - first + 1; }
  /// Whether `next` begins with the client after the last of this range.
  [[nodiscard]] bool touches(const ClientRange& next) const { return std::int64_t{through} + 1 == next.first; }
  [[nodiscard]] bool operator==(const ClientRange&) const = default;

  Client first = 0;
  Client through = 0;  ///< inclusive
};

/// "client 3" or "clients 0–49999".
[[nodiscard]] std::string name_of(const ClientRange& clients);

/// Ascending ranges, with touching ranges united.
[[nodiscard]] std::vector<ClientRange> united(const std::vector<ClientRange>& ranges);

/// Adds a row about clients; where it says what the last one says of the clients before, that one goes on.
template <class Row>
void add_row(std::vector<Row>& rows, Row row) {
  if (!rows.empty() && rows.back().clients.touches(row.clients) && rows.back().says_the_same(row)) {
    rows.back().clients.through = row.clients.through;
  } else {
    rows.push_back(std::move(row));
  }
}

}  // namespace starling
