#include "privacy/client_range.hpp"

#include <fmt/format.h>

namespace starling {

std::string name_of(const ClientRange& clients) {
  if (clients.first == clients.through) return fmt::format("client {}", clients.first);
  return fmt::format("clients {}–{}", clients.first, clients.through);
}

std::vector<ClientRange> united(const std::vector<ClientRange>& ranges) {
  std::vector<ClientRange> fewer;
  for (const ClientRange& range : ranges) {
    if (!fewer.empty() && fewer.back().touches(range)) {
      fewer.back().through = range.through;
    } else {
      fewer.push_back(range);
    }
  }
  return fewer;
}

}  // namespace starling
