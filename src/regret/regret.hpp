/// The regrets of a run: of the network and of clients, with their growth (docs/methods/decentralized.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evaluation_pass.hpp"
#include "optimise/minimise.hpp"
#include "protocol/constraints/constraint_set.hpp"
#include "regret/growth.hpp"

namespace starling {

/// Regret against x* = argmin_{x ∈ X} Σ_t Σ_u f_u,t(x) over the x with Σ_{t in window} Σ_u c_u,t(x) ≤ 0 for every
/// constraint c and every window of K consecutive rounds (the K-benchmark). A window of all rounds gives the long-term
/// comparator.
struct ConstrainedRegret {
  std::optional<Round> window;  ///< K; none for all rounds
  double played = 0;
  std::int64_t client_rounds = 0;
  ConstrainedMinimum comparator;  ///< value, certificate and violation are per client-round
  Vector curve;                   ///< regret after each mark, against the same x*
  std::optional<GrowthFit> growth;

  [[nodiscard]] double total() const { return played - static_cast<double>(client_rounds) * comparator.minimum.value; }
  [[nodiscard]] double per_client_round() const { return total() / static_cast<double>(client_rounds); }
};

/// Checks before a run that constrained_regrets() can handle so many rounds and parameters. Throws UsageError.
void check_constrained_regret(const ConstraintSet& set, Round rounds, std::size_t dimension);

/// **Collective.** Regret against the long-term comparator and, with a window, against the K-benchmark. Empty where no
/// constraint is on models. The bits are the same on every rank and for every layout. Every rank keeps the network's
/// rows of all rounds: T (d + 1) numbers for each constraint. Throws UsageError for more than 2·10^8 numbers.
[[nodiscard]] std::vector<ConstrainedRegret> constrained_regrets(const EvaluationPass& pass, const ConstraintSet& set,
                                                                 std::optional<Round> window);

/// A sentence for the notes of a run if the comparator misses its tolerance or does not exist; otherwise empty.
[[nodiscard]] std::string remark_on(const ConstrainedRegret& regret);

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

/// The static regret of a run.
struct StaticRegret {
  double played = 0;               ///< Σ_t Σ_u f_u,t(x_u,t)
  std::int64_t client_rounds = 0;  ///< number of the f_u,t
  Minimum comparator;              ///< x*; value and certificate are per client-round
  /// Regret after each mark, against the best model for the rounds before the mark; NaN where the search could not
  /// bound the error by a hundredth of the regret.
  Vector curve = {};
  std::vector<Secret<double>> best = {};  ///< Σ_t f_u,t(x*) of each local client

  /// Whether there is a comparator; there is none if the losses have no minimum.
  [[nodiscard]] bool exists() const { return comparator.ending != Minimum::Ending::unbounded; }
  /// The regret. If the certificate is a gap, the regret is too small by at most client_rounds × the certificate.
  [[nodiscard]] double total() const { return played - static_cast<double>(client_rounds) * comparator.value; }
  [[nodiscard]] double per_client_round() const { return total() / static_cast<double>(client_rounds); }
};

/// **Collective.** The search for the comparator of all rounds starts at the domain's centre. The searches for earlier
/// marks follow in rising order: each starts at the comparator before and ends at a wider gap. The result has the same
/// bits on every rank and for every layout, except `best`, which holds the rank's own clients.
[[nodiscard]] StaticRegret static_regret(const EvaluationPass& pass);

/// A sentence for the notes of a run if the comparator misses its tolerance or does not exist; otherwise empty.
[[nodiscard]] std::string remark_on(const StaticRegret& regret);

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
