/// Effective weights: how much each client's steps count in the result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/columns.hpp"
#include "output/choices.hpp"

namespace starling {

class Agreement;
class DecentralizedOmd;

/// Share of the steps that a client may owe at the end without a note, where rounds are in step and where they are not.
constexpr double tolerated_debt = 0.01;
constexpr double tolerated_debt_out_of_step = 0.05;

/// The effective weight of one client.
struct EffectiveWeight {
  Client client = 0;
  /// Steps taken / steps credited, times the influence of the rounds that the client has played (model_path.hpp), as
  /// a share of the largest of a client, in [0, 1]; NaN where none were credited, and of a client without records.
  double weight = 1;
};

/// The effective weights of a run.
struct EffectiveWeights {
  double debt_share = 0;                ///< Σ of steps not taken / Σ of steps credited, over all clients
  double tolerance = tolerated_debt;    ///< a client is named if its weight is below 1 − tolerance
  bool of_all = true;                   ///< whether `listed` holds every client
  std::vector<EffectiveWeight> listed;  ///< clients that are recorded individually, ascending
  std::vector<EffectiveWeight> lowest;  ///< clients that are named, the least weights first; ten at most
  std::int64_t named = 0;               ///< number of clients below 1 − tolerance
};

/// Steps of one rank's clients.
struct LocalSteps {
  Client first = 0;   ///< the rank's first client
  Vector taken;       ///< steps taken / steps credited of each client; NaN where none were credited
  Vector credits;     ///< steps credited to each
  Vector influences;  ///< of the rounds that each has played
};

/// Steps of this rank's clients. `contraction` is that of the run (ModelPath); none where rounds are not in step, so
/// that late steps make up for those that were missed.
[[nodiscard]] LocalSteps local_steps(const DecentralizedOmd& omd, Client first, std::optional<double> contraction);

/// **Collective.** Gathers the weights to rank 0; the figures do not depend on the layout.
[[nodiscard]] EffectiveWeights gather_weights(Agreement& agreement, const Recorded& recorded, const LocalSteps& local,
                                              double tolerance);

/// "client 3 counted for 0.91, client 7 for 0.95, and 12 more" of the clients that are named; empty if there are none.
[[nodiscard]] std::string describe_lowest(const EffectiveWeights& weights);

/// The note of a run in which clients are named.
[[nodiscard]] std::string note_on_weights(const EffectiveWeights& weights);

}  // namespace starling
