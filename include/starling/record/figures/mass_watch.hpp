/// Clients whose push-sum mass stays small for long, and are told of at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "starling/core/snapshot.hpp"
#include "starling/net/agreement.hpp"
#include "starling/protocol/observer.hpp"

namespace starling {

/// A mass below this share of the average (which is 1) is small, and a client is named if its mass was so in this share
/// of the rounds.
constexpr double small_mass = 1e-3;
constexpr double long_share = 0.1;

/// A client whose mass was small.
struct SmallMass {
  Client client = 0;
  double least = 0;  ///< its least mass
  double share = 0;  ///< of the rounds in which its mass was below `small_mass`
};

/// The small masses of a run.
struct SmallMasses {
  std::optional<SmallMass> least;  ///< the client with the least mass of all; its share may be 0
  std::int64_t count = 0;          ///< clients that are named
  std::vector<SmallMass> named;    ///< those with the largest shares, ten at most
};

/// The observer of one rank's masses. It looks after each of the first 1,024 rounds and after every 16th from then on;
/// a look stands for the rounds since the one before. Clients that neither mix nor step are left out: they have left.
class MassWatch final : public Observer {
 public:
  /// `first` is the rank's first client.
  explicit MassWatch(Client first) : first_(first) {}

  void after(const RoundView& view) override;
  [[nodiscard]] Round due() const override { return next_; }
  void persist(Snapshot& snapshot) { snapshot(next_, seen_, rounds_below_, least_, least_of_all_, who_); }

  /// **Collective.** All ranks' small masses, on rank 0; the same on any layout.
  [[nodiscard]] SmallMasses gather(Agreement& agreement) const;

 private:
  void note(std::size_t k, double mass, Round rounds, std::size_t clients);
  [[nodiscard]] SmallMass of(std::size_t k) const;

  Client first_;
  Round next_ = 1;                   ///< it does not look before this round
  Round seen_ = 0;                   ///< round of the last look
  std::vector<Round> rounds_below_;  ///< by client; empty until a mass is small
  Vector least_;                     ///< least mass while it was small, likewise
  double least_of_all_ = 1;
  Client who_ = -1;  ///< whose it was; none while no mass has been below the average
};

/// "client 3 in 83 % of the rounds (1e-14 at least), and 2 more" of the clients that are named; empty if there are
/// none.
[[nodiscard]] std::string describe_small(const SmallMasses& masses);

/// The note of a run in which clients are named.
[[nodiscard]] std::string note_on_small_masses(const SmallMasses& masses);

}  // namespace starling
