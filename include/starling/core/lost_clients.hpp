/// Clients that a run has lost for good.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "starling/core/links.hpp"

namespace starling {

/// Numbers of some of `clients` clients, ascending, from a list like `3,7,10-19`. Throws UsageError for anything else.
[[nodiscard]] std::vector<Client> parse_clients(std::string_view text, Client clients);
/// The list of ascending clients, with a range for three neighbours and more.
[[nodiscard]] std::string list_of_clients(const std::vector<Client>& clients);

/// The clients that a run has lost, and when.
class LostClients {
 public:
  struct Loss {
    Round round = 0;              ///< rounds that were played with these clients
    std::vector<Client> clients;  ///< ascending
  };

  /// Clients that are lost after `round` rounds, and were not before.
  void add(Round round, std::vector<Client> clients);
  [[nodiscard]] const std::vector<Loss>& losses() const { return losses_; }
  [[nodiscard]] bool any() const { return !losses_.empty(); }
  [[nodiscard]] bool has(Client u) const;
  /// All of them, ascending.
  [[nodiscard]] const std::vector<Client>& all() const { return all_; }
  [[nodiscard]] Client count() const { return static_cast<Client>(all_.size()); }

 private:
  std::vector<Loss> losses_;
  std::vector<Client> all_;
};

}  // namespace starling
