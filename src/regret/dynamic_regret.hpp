/// Dynamic regret by an evaluation pass after the rounds (docs/methods/decentralized.md).
///
/// Regret = Σ_t Σ_u [f_u,t(x_u,t) − f_u,t(x*_t)], x*_t = argmin_{x ∈ X} Σ_u f_u,t(x) over the clients that played in
/// round t. The path length is A_T = Σ_t ‖x*_{t+1} − x*_t‖₂ over the rounds that a client played.
///
/// The search for each comparator starts at the domain's centre, so a comparator depends on its own round alone. Where
/// a round has several best models, x*_t is the one that the search finds, and the path length depends on this choice.
/// Some rounds are therefore searched from a second start; `undetermined` counts those with another result.
#pragma once

#include <string>

#include "optimise/minimise.hpp"
#include "regret/evaluation_pass.hpp"

namespace starling {

/// The dynamic regret of a run.
struct DynamicRegret {
  double played = 0;  ///< Σ_t Σ_u f_u,t(x_u,t)
  double best = 0;    ///< Σ_t Σ_u f_u,t(x*_t)
  std::int64_t client_rounds = 0;
  Round rounds = 0;  ///< rounds that a client played; each has a comparator
  double path_length = 0;
  /// The comparator whose certificate exceeds its tolerance most, or falls short of it least; per client. `x` is empty.
  Minimum worst;
  Round worst_round = 0;
  std::int64_t evaluations = 0;    ///< evaluations of a round's losses, over all rounds
  Round not_reached = 0;           ///< rounds whose certificate is not within the tolerance
  Round not_attained = 0;          ///< rounds whose losses go on falling along the comparator
  std::optional<Round> unbounded;  ///< a round without a best model; then there is no dynamic regret
  bool interrupted = false;        ///< whether the pass was interrupted; then there is no dynamic regret
  Round tried_twice = 0;           ///< rounds searched from two places
  Round undetermined = 0;          ///< rounds among these with two distant best models
  Vector curve = {};               ///< regret after each mark
  Vector path = {};                ///< path length before each mark
  std::vector<Secret<double>> best_of_clients = {};  ///< Σ_t f_u,t(x*_t) of each local client

  [[nodiscard]] bool exists() const { return !unbounded && !interrupted; }
  [[nodiscard]] double total() const { return played - best; }
  [[nodiscard]] double per_client_round() const { return total() / static_cast<double>(client_rounds); }
};

/// **Collective.** Blocks of rounds are distributed over ranks. The rank of a block receives its records and sends its
/// comparators to all ranks. Each client's rank adds up the client's losses in the order of rounds. The result has the
/// same bits on every rank and for every layout, except `best_of_clients`, which holds the rank's own clients.
[[nodiscard]] DynamicRegret dynamic_regret(const EvaluationPass& pass);

/// Sentences for the notes of a run, about comparators that miss their tolerance or do not exist.
[[nodiscard]] std::vector<std::string> remarks_on(const DynamicRegret& regret);

}  // namespace starling
