/// Dynamic regret by an evaluation pass after the rounds (method 1, "Regret, as reported").
///
/// Regret = Σ_t Σ_u [f_u,t(x_u,t) − f_u,t(x*_t)], x*_t = argmin_{x ∈ X} Σ_u f_u,t(x) over the clients that played in
/// round t, and the path length A_T = Σ_t ‖x*_{t+1} − x*_t‖₂ over the rounds that somebody played.
///
/// Every comparator is searched from the domain's centre, whatever the other rounds: it depends on its own round alone.
/// Where several models are best for a round, x*_t is the one that the search comes to, and the path length is of its
/// choice; some rounds are therefore searched from a second place, and `undetermined` says how many came out elsewhere.
#pragma once

#include <string>

#include "starling/optimise/minimise.hpp"
#include "starling/regret/evaluation_pass.hpp"

namespace starling {

struct DynamicRegret {
  double played = 0;  ///< Σ_t Σ_u f_u,t(x_u,t)
  double best = 0;    ///< Σ_t Σ_u f_u,t(x*_t)
  std::int64_t client_rounds = 0;
  Round rounds = 0;  ///< that somebody played: those which have a comparator
  double path_length = 0;
  /// Of all comparators, those whose certificate is the furthest above its tolerance, or the least below; per client.
  /// `x` is empty.
  Minimum worst;
  Round worst_round = 0;
  std::int64_t evaluations = 0;                      ///< of one round's losses, in all rounds
  Round not_reached = 0;                             ///< rounds whose certificate is not within the tolerance
  Round not_attained = 0;                            ///< rounds whose losses go on falling along the comparator
  std::optional<Round> unbounded;                    ///< a round without a best model: there is no dynamic regret then
  bool interrupted = false;                          ///< nor is there if the pass was ended
  Round tried_twice = 0;                             ///< rounds searched from two places
  Round undetermined = 0;                            ///< of them, those with two best models far apart
  Vector curve = {};                                 ///< regret after each mark
  Vector path = {};                                  ///< path length before each mark
  std::vector<Secret<double>> best_of_clients = {};  ///< Σ_t f_u,t(x*_t) of each local client

  [[nodiscard]] bool exists() const { return !unbounded && !interrupted; }
  [[nodiscard]] double total() const { return played - best; }
  [[nodiscard]] double per_client_round() const { return total() / static_cast<double>(client_rounds); }
};

/// Blocks of rounds are dealt out: their records go to a rank that finds the comparators, which then go to all ranks,
/// and each client's losses against them are added up where the client lives, in the order of rounds. The result has
/// the same bits on every rank and for every layout, but for `best_of_clients`, which is each rank's own.
/// **Collective.**
[[nodiscard]] DynamicRegret dynamic_regret(const EvaluationPass& pass);

/// Sentences for the notes of a run, where the comparators are not what they should be; else none.
[[nodiscard]] std::vector<std::string> remarks_on(const DynamicRegret& regret);

}  // namespace starling
