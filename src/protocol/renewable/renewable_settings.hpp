/// Settings of renewable estimation.
#pragma once

#include <optional>

#include "core/links.hpp"
#include "files/round_values.hpp"

namespace starling {

enum class Penalty { full, slopes };

struct RenewableSettings {
  Round rounds = 1;                             ///< batches; for `offline` the most passes over the data
  double l2 = 0;                                ///< λ; where it changes with the batch, its largest value
  std::optional<RoundValues> l2_of_batch = {};  ///< λ_b; not for searches over all batches
  Penalty penalty = Penalty::full;
  bool safe_start = true;    ///< whether to minimise over the first batch before the first step
  double forget = 1;         ///< ρ, the factor of J before each batch
  bool looks_again = false;  ///< whether the online estimate of the last batch is that of a second look
  bool with_slopes = false;  ///< whether to keep Σ ℓ'² x̄x̄ᵀ, or under noise Σ ψψᵀ, for sandwich standard errors
};

}  // namespace starling
