/// `--checkpoint-every`.
#pragma once

#include "core/links.hpp"

namespace starling {

/// The interval of checkpoints, in rounds or seconds. With neither, one is written when a signal stops the run.
struct CheckpointPace {
  Round rounds = 0;
  double seconds = 0;
  [[nodiscard]] bool any() const { return rounds > 0 || seconds > 0; }
};

}  // namespace starling
