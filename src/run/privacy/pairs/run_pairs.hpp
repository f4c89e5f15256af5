/// The noise that clients share in pairs in a run (`--trust pairs`): who, how much, and with which keys.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/links.hpp"
#include "privacy/pairs/pair_graph.hpp"
#include "privacy/pairs/pair_terms.hpp"

namespace starling {

class Agreement;
class Schedule;
struct PairRounds;
struct PairsTrust;
struct PrivacyLoss;
struct PrivacyOptions;

/// Clients that are all paired with each other, where --pairs does not say otherwise.
inline constexpr Client most_clients_of_all_pairs = 64;

/// The clients of a run that share noise, and when they do.
struct PairClients {
  /// All of `count` clients, always.
  [[nodiscard]] static PairClients all_of(Client count);

  Client all = 0;               ///< numbers of clients, with those that are lost
  std::vector<Client> present;  ///< that are not lost, ascending
  bool changed = false;         ///< whether clients were lost or have joined since the run began
  /// Whether a client releases in a round; empty: all that are present do.
  std::function<bool(Client, Round)> releases = {};
  std::vector<Round> departures = {};  ///< rounds in which clients leave
};

/// The pairs that --pairs asks for between the clients that are present, which are numbered from 0: by default all of
/// few clients, else neighbours and others by lot. `neighbours` is the graph of the run without absences and losses;
/// null: clients talk to rank 0 alone. Where clients have changed, pairs of a file are filled up by lot. Throws
/// UsageError. Rank-local.
[[nodiscard]] PairGraph chosen_pairs(const PrivacyOptions& options, const PairClients& clients,
                                     const Schedule* neighbours, std::uint64_t seed);
/// Clients that would hide each other, at least, if the user took --trust pairs; none for fewer than 3 clients, and for
/// so many that nobody would wait. Rank-local.
[[nodiscard]] std::optional<double> hiding_of_pairs(const PrivacyOptions& options, Client clients,
                                                    const Schedule* neighbours, std::uint64_t seed);
/// Clients go on releasing zeros until the last of them ends (Accounts::release_zeros_until): throws UsageError where
/// nobody knows when that is. **Collective.**
void require_known_ends(Agreement& agreement, bool reads_pipes);

/// The public part, the same on all ranks.
class RunPairs {
 public:
  /// The chosen pairs, and the least ratio of noises that hides each client well against --collusion others
  /// (privacy/pairs/pair_price.hpp).
  /// Where clients sit rounds out, the exposure is that of the rounds' graphs for which noise is least in all: in
  /// rounds whose clients hide each other less well no pair is left out. After a loss there may be too few clients to
  /// hide anyone: then they share no noise.
  /// **Collective.** Throws UsageError where nothing would hide a client at first.
  RunPairs(Agreement& agreement, const PrivacyOptions& options, PairClients clients, const Schedule* neighbours,
           std::uint64_t seed);

  [[nodiscard]] const PairGraph& graph() const { return graph_; }
  [[nodiscard]] const PairTerms& terms() const { return terms_; }
  /// Of releases of all clients before the first round, whose sum alone is used: nothing is to mix, so that pairs have
  /// as much noise as is of use, and hide clients better.
  [[nodiscard]] const PairTerms& terms_before() const { return before_; }
  /// The public schedule of releases, as the noise of pairs needs it. It refers to this object.
  [[nodiscard]] PairRounds rounds() const;
  /// The μ of the mean model, as 1/h clients hide each other: the noise of each is less by √h.
  [[nodiscard]] double price_of_mean(double mu) const;
  /// For ledgers and digests: all that the price of releases with these terms depends on, but for the clients' own
  /// noise.
  [[nodiscard]] std::string text(const PairTerms& terms) const;
  /// The losses of `own`, which hold against the coalition, against others. `before` is the μ of releases before the
  /// first round among them, and `alone` that of releases with a client's own noise alone, whoever looks.
  [[nodiscard]] PairsTrust describe(const PrivacyLoss& own, double before, double alone = 0) const;

 private:
  [[nodiscard]] std::vector<Client> releasing(Round t) const;
  [[nodiscard]] double exposure_of(const std::vector<Client>& clients) const;
  [[nodiscard]] double exposure_over_rounds(double of_whole) const;

  PairClients clients_;
  PairGraph graph_;  ///< of all numbers
  Client colluding_;
  PairTerms terms_;
  PairTerms before_;
  double exposure_outside_ = 1;  ///< with no colluding client; that of a coalition where it varies
  double outside_before_ = 1;    ///< likewise of `before_`
  std::size_t least_partners_ = 0;
};

}  // namespace starling
