/// A lower bound on ε from a single run (Steinke, Nasr and Jagielski, "Privacy auditing with one (1) training run",
/// 2023), for streams in which every round has records of its own.
///
/// In every round one record is a canary: its gradient is +C or −C in one coordinate, by a secret fair coin. Whoever
/// sees the releases guesses the signs. Each canary is one record, replaced or not; so, whatever was released before,
/// a guess about it is right with a probability of at most e^ε/(1 + e^ε) if a record's loss is ε, and the number of
/// right guesses out of k is at most a binomial variable (their theorem 5.2 with its term for δ).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/columns.hpp"
#include "core/links.hpp"
#include "privacy/charge.hpp"
#include "privacy/correlation.hpp"

namespace starling {

/// The score of a guesser: `guesses` guesses at `canaries` secret signs, `right` of them right.
struct OneRunScore {
  std::int64_t canaries = 0;
  std::int64_t guesses = 0;
  std::int64_t right = 0;
};

/// The probability, at most, of so many right guesses or more if a record's loss is (ε, δ): P(Bin(k, e^ε/(1 + e^ε)) ≥
/// right) and, where δ > 0, 2 n δ max_i P(right − i ≤ Bin(k, …) < right)/i more; n canaries, k guesses. Throws
/// UsageError unless 0 <= right <= guesses <= canaries, ε >= 0 and 0 <= δ < 1.
[[nodiscard]] double one_run_p_value(const OneRunScore& score, double epsilon, double delta);

/// The largest ε that such a score refutes with that error probability; 0 if none. Guesses must have been chosen
/// without a look at the signs.
[[nodiscard]] double one_run_bound(const OneRunScore& score, double delta, double error);

/// The secret signs of a run and the values released in their coordinate, in the order of releases.
struct CanaryLog {
  std::vector<int> signs;  ///< +1 or −1; under correlated noise 0 for a release without a canary
  Vector seen;             ///< released values
  // Filled in under correlated noise only:
  std::vector<Client> clients = {};  ///< of each release
  std::vector<Round> rounds = {};    ///< of each release, ascending for each client
  double noise = 0;                  ///< deviation of the independent noise behind a release, in canaries
};

/// The log of canaries alone, with estimates of the canaries in place of single releases: each shows in all later
/// releases of its client, and all others do, too. Without a correlation the log itself. A client's estimates x are the
/// linear ones of least mean square error for signs that are independent of each other, after the mean is taken off:
/// (Cᵀ C + n² I) x = Cᵀ C y, n = `noise`. (The statistic Cᵀ C y, the best about one sign where all others are known,
/// guesses 56 % of all signs at μ = 1 and T = 1024, a single release 60 %, these 63 %.)
[[nodiscard]] CanaryLog estimated_canaries(CanaryLog log, const std::optional<NoiseCorrelation>& correlation);

/// The result of an audit by one run.
struct OneRunResult {
  double epsilon_claimed = 0;  ///< at `delta`
  double delta = 0;
  double epsilon_lower_bound = 0;  ///< 95 %
  double epsilon_refuting = 0;     ///< 99.9 %
  bool refuted = false;
  std::vector<OneRunScore> scores;  ///< of guessing all canaries, the surest half of them, a quarter, …
};

/// Guesses each sign by the side of the median on which the released value lies, all of them and the surest parts, and
/// bounds ε. Where fewer than half are right it takes the contrary guesses: a model that mixes records may show a
/// canary by its contrary. Bonferroni over parts and both guessers. `delta` is where the ε of a Gaussian claim is
/// taken. Throws UsageError if the log has fewer than 32 canaries or its lists differ in length.
[[nodiscard]] OneRunResult one_run_audit(const CanaryLog& log, const Charge& claim, double delta);

}  // namespace starling
