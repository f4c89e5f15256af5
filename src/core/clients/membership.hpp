/// The clients of a run, of which some may be lost for good, and some join later; and what they count for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/links.hpp"

namespace starling {

/// Numbers of some of `clients` clients, ascending, from a list like `3,7,10-19`. Throws UsageError for anything else.
[[nodiscard]] std::vector<Client> parse_clients(std::string_view text, Client clients);
/// The list of ascending clients, with a range for three neighbours and more.
[[nodiscard]] std::string list_of_clients(const std::vector<Client>& clients);

/// The clients with which a run began, and all changes since then. Numbers of clients never change, and no number is
/// given twice: clients that join have the numbers after those of all others.
class Membership {
 public:
  struct Change {
    enum class Kind { loss, join };
    Kind kind = Kind::loss;
    Round round = 0;              ///< rounds that were played before
    std::vector<Client> clients;  ///< that are lost or join, ascending
    std::string source;           ///< records of those that join (`--source`)
  };

  explicit Membership(Client at_first = 0) : at_first_(at_first), clients_(at_first) {}

  /// Clients are lost after `round` rounds, and were not before. Throws UsageError.
  void lose(Round round, std::vector<Client> clients);
  /// `count` clients with records from `source` join after `round` rounds.
  void join(Round round, Client count, std::string source);

  /// All changes, in the order in which they were made.
  [[nodiscard]] const std::vector<Change>& changes() const { return changes_; }
  [[nodiscard]] bool has_changed() const { return !changes_.empty(); }
  /// The changes of this kind, in order.
  [[nodiscard]] std::vector<Change> changes(Change::Kind kind) const;

  /// Number of clients with which the run began.
  [[nodiscard]] Client at_first() const { return at_first_; }
  /// Number of all clients that the run has ever had, lost ones included.
  [[nodiscard]] Client clients() const { return clients_; }
  /// All clients that are not lost, ascending.
  [[nodiscard]] std::vector<Client> present() const;

  [[nodiscard]] bool any_lost() const { return !lost_.empty(); }
  [[nodiscard]] bool is_lost(Client u) const;
  /// All clients that are lost, ascending.
  [[nodiscard]] const std::vector<Client>& lost() const { return lost_; }
  [[nodiscard]] bool any_joined() const { return clients_ > at_first_; }
  /// The change with which client u joined; null for a client that was there at first.
  [[nodiscard]] const Change* joined_with(Client u) const;

 private:
  Client at_first_;
  Client clients_;
  std::vector<Change> changes_;
  std::vector<Client> lost_;
};

/// Whether every record counts alike, as if all were pooled, or every client, as the mean over its own records.
enum class ClientWeights { records, equal };

[[nodiscard]] inline const char* name_of(ClientWeights weights) {
  return weights == ClientWeights::records ? "records" : "equal";
}

/// The weights as a clause for people, of records or of persons.
[[nodiscard]] inline const char* in_words(ClientWeights weights, bool of_persons) {
  if (weights == ClientWeights::equal) {
    return of_persons ? "every client counts alike, whatever its number of persons"
                      : "every client counts alike, whatever its number of records";
  }
  return of_persons ? "persons count as if one client had all of them" : "every record counts alike, whoever has it";
}

}  // namespace starling
