/// Settings of decentralized online mirror descent, and of mixing.
#pragma once

#include <optional>
#include <string>

#include "core/links.hpp"
#include "model/squared_penalty.hpp"
#include "net/neighbours/exchange_way.hpp"
#include "protocol/step_schedule.hpp"

namespace starling {

enum class Mixing {
  push_sum,  ///< sender weights sum to one; unbiased on any digraph
  plain,     ///< for receiver weights that sum to one; biased on an unbalanced digraph
};

struct MixingSettings {
  Mixing mixing = Mixing::push_sum;
  double lazy = 0;       ///< share of its mass that a client keeps before it splits the rest
  int gossip_steps = 1;  ///< exchanges per round; each is the next step of the graph's schedule
  /// Whether messages are `RunningSums`, for links that lose messages unnoticed. Push-sum only.
  bool running_sums = false;
  /// Most seconds that a round waits for in-neighbours; 0: none. Without a value a round waits for all of them: only
  /// then are rounds in step, and the bits the same in every run.
  std::optional<double> deadline = {};
  /// Transport of vectors between ranks where rounds are in step; changes no result. Running sums go as messages.
  ExchangeWay exchange = ExchangeWay::automatic;
  /// Quantiser of messages (`RoundedMessages`). Other than `double` for push-sum in step and without running sums only.
  std::string precision = "double";
  [[nodiscard]] bool rounds_messages() const { return precision != "double"; }
};

/// Settings of a run; η_t is `step_at(t)` of the step schedule.
struct OmdSettings : StepSchedule {
  Round rounds = 1;
  Round first_round = 0;  ///< rounds before are left out
  double step_cap = 1;    ///< κ: no step is longer than κ times the first (step debt)
  /// Behaviour of a client in a round that it sits out.
  enum class Absent { steps, freezes } absent = Absent::steps;
  /// Whether a client that steps while absent plays the model of its last exchange until the next one: noise between
  /// pairs is large in its own.
  bool plays_mixed = false;
  Round closing = 0;  ///< rounds of mixing alone that belong to the last round
  SquaredPenalty l2;  ///< added after the release, since it depends on no record
  /// N̄/(m T) where every record counts alike: gradients of the T batches of m records of a pass are that much shorter
  /// than means over a full batch, and so is λx.
  double l2_share = 1;
};

}  // namespace starling
