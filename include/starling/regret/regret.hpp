/// The regrets of a run together: network and clients, and how they grow.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "starling/regret/constrained_regret.hpp"
#include "starling/regret/dynamic_regret.hpp"
#include "starling/regret/growth.hpp"
#include "starling/regret/static_regret.hpp"

namespace starling {

/// Which of them are wanted.
struct RegretKinds {
  bool fixed = false;   ///< static: against one model
  bool moving = false;  ///< dynamic: against each round's own
  /// Against models that keep these constraints besides, where static regret is wanted; null where there are none.
  const ConstraintSet* constraints = nullptr;
  std::optional<Round> window = std::nullopt;  ///< of the K-benchmark
};

/// Of one client; NaN for what was not asked for or does not exist.
struct ClientRegret {
  Round rounds = 0;  ///< that it played
  double played = 0;
  double fixed = 0;
  double moving = 0;
};

/// Regrets after some rounds; NaN where unknown.
struct RegretCurve {
  std::vector<Round> rounds;
  Vector fixed;
  Vector moving;
  Vector path_length;
  std::optional<GrowthFit> fixed_growth;
  std::optional<GrowthFit> moving_growth;
};

struct Regret {
  double played = 0;               ///< Σ_t Σ_u f_u,t(x_u,t)
  std::int64_t client_rounds = 0;  ///< how many f_u,t there are
  std::optional<StaticRegret> fixed;
  std::optional<DynamicRegret> moving;
  std::vector<ConstrainedRegret> constrained;
  std::vector<ClientRegret> per_client;  ///< on rank 0, up to 100 clients; else empty
  RegretCurve curve;
};

/// The evaluation pass. Sums have the same bits for every layout. **Collective.** Throws as EvaluationPass does.
[[nodiscard]] Regret find_regret(const EvaluationPass& pass, const RegretKinds& kinds);

/// Sentences for the notes of a run, where comparators are not what they should be.
[[nodiscard]] std::vector<std::string> remarks_on(const Regret& regret);

/// FOLDER/regret.csv: rounds, static, dynamic, path_length, static_fitted, dynamic_fitted; an empty field is unknown,
/// and outside the decade that was fitted. Throws FailureError.
void write_regret_curve(const std::string& folder, const RegretCurve& curve);
/// Of a run's directory; none if it has no such file. Throws DataError.
[[nodiscard]] std::optional<RegretCurve> read_regret_curve(const std::string& folder);

}  // namespace starling
