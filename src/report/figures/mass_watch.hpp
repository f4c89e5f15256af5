/// The recorded figure "small masses": clients whose push-sum mass stays small for long.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "report/figures/figure.hpp"

namespace starling {

/// A mass below this share of the average (which is 1) is small.
constexpr double small_mass = 1e-3;
/// A client is named if its mass was small in this share of the rounds.
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
  std::vector<SmallMass> named;    ///< the clients with the largest shares, ten at most
};

/// The observer of one rank's masses. It samples each of the first 1,024 rounds, then every 16th. A sample stands for
/// the rounds since the sample before. Clients that neither mix nor step have left, and are not counted.
class MassWatch final : public FigureObserver {
 public:
  /// `first` is the rank's first client. Masses are 1 under plain mixing: then nothing is sampled.
  explicit MassWatch(Client first, Mixing mixing = Mixing::push_sum)
      : first_(first), next_(mixing == Mixing::push_sum ? 1 : std::numeric_limits<Round>::max()) {}

  void after(const RoundView& view) override;
  [[nodiscard]] Round due() const override { return next_; }
  void persist(Snapshot& snapshot) override;
  [[nodiscard]] FigureResult gather(Agreement& agreement) const override;

  /// **Collective.** All ranks' small masses, on rank 0; the same for any layout.
  [[nodiscard]] SmallMasses small_masses(Agreement& agreement) const;

 private:
  /// Whether this would be the least mass so far. Of equal masses that of the first client counts, whenever it was
  /// seen: ranks do not know whose was seen first.
  [[nodiscard]] bool is_least(Client client, double mass) const;
  void keep_least(Client client, double mass);
  void note(std::size_t k, double mass, Round rounds);
  [[nodiscard]] SmallMass of(std::size_t k) const;

  Client first_;
  Round next_;                       ///< the next round that is sampled
  Round seen_ = 0;                   ///< round of the last sample
  std::vector<Round> rounds_below_;  ///< rounds with a small mass, by client, up to the last with a small mass
  Vector least_;                     ///< least small mass, by client; likewise
  double least_of_all_ = 1;
  Client who_ = -1;  ///< client with the least mass; none while no mass has been below the average
};

/// The named clients in words: "client 3 in 83 % of the rounds (1e-14 at least), and 2 more". Empty if none is named.
[[nodiscard]] std::string describe_small(const SmallMasses& masses);

/// The note of a run in which clients are named.
[[nodiscard]] std::string note_on_small_masses(const SmallMasses& masses);

}  // namespace starling
