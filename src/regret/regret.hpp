/// The regrets of a run: of the network and of clients, with their growth (docs/methods/decentralized.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "regret/constrained_regret.hpp"
#include "regret/dynamic_regret.hpp"
#include "regret/growth.hpp"
#include "regret/static_regret.hpp"

namespace starling {

/// The kinds of regret to compute.
struct RegretKinds {
  bool fixed = false;   ///< static regret: one comparator for all rounds
  bool moving = false;  ///< dynamic regret: one comparator for each round
  /// Constraints for static regret against comparators that keep them; null for none.
  const ConstraintSet* constraints = nullptr;
  std::optional<Round> window = std::nullopt;  ///< of the K-benchmark
};

/// The regrets of one client; NaN for a kind that was not computed or does not exist.
struct ClientRegret {
  Round rounds = 0;  ///< rounds that the client played
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

/// The regrets of the network.
struct Regret {
  double played = 0;               ///< Σ_t Σ_u f_u,t(x_u,t)
  std::int64_t client_rounds = 0;  ///< number of the f_u,t
  std::optional<StaticRegret> fixed;
  std::optional<DynamicRegret> moving;
  std::vector<ConstrainedRegret> constrained;
  std::vector<ClientRegret> per_client;  ///< on rank 0, for up to 100 clients; otherwise empty
  RegretCurve curve;
};

/// **Collective.** Computes the regrets by an evaluation pass. Sums have the same bits for every layout.
[[nodiscard]] Regret find_regret(const EvaluationPass& pass, const RegretKinds& kinds);

/// Sentences for the notes of a run, about comparators that miss their tolerance or do not exist.
[[nodiscard]] std::vector<std::string> remarks_on(const Regret& regret);

/// Writes FOLDER/regret.csv: rounds, static, dynamic, path_length, static_fitted, dynamic_fitted. Empty fields are
/// unknown values, and fitted values outside the fitted decade. Throws FailureError.
void write_regret_curve(const std::string& folder, const RegretCurve& curve);
/// Reads the regret.csv of a run directory; none if there is no file. Throws DataError.
[[nodiscard]] std::optional<RegretCurve> read_regret_curve(const std::string& folder);

}  // namespace starling
