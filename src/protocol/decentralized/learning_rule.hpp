/// Settings of private learning from public numbers alone (docs/methods/learning-rule.md).
///
/// Notation: n clients; N the most records of a client; E passes of T rounds; m the batch; C the clip; R the norm of a
/// typical record; |ℓ'(0)| the size of the loss's slope at a score of 0; σ the deviation of the noise of one gradient
/// sum; v the prefix noise of the strategy (privacy/correlation.hpp). The mean model after a run is −(1/n) Σ η ĝ,
/// whose noise moves the score of a typical record by a deviation of s1 = σ v R/(m √n) at a step of 1, whatever the
/// number of features. Useful scores are a few units u, which are logits, or quarters of a typical label where labels
/// are numbers. So the first step is at most κ u/s1 with κ = 3 (with κ u/√(2 ln K) for K scores of a record, whose
/// largest noise counts; with κ = 1.5 for linear models of two classes in no narrow domain, whose probabilities more
/// noise would make too extreme, and down to half of that below a signal of 6, which leaves more to the constant); it
/// falls to zero along a line, so that a run ends with little noise. Maps whose steps add up in the exponents of d
/// coordinates have s1 = σ v/(m √n), the noise of an exponent, and κ/√(2 ln d) of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "core/links.hpp"
#include "mirror/mirror.hpp"
#include "privacy/charge.hpp"
#include "privacy/correlation.hpp"

namespace starling {

/// The public numbers of a run, and what its user has settled.
struct RuleFacts {
  /// n: as many clients that count alike give the mean model as much noise.
  double clients = 1;
  std::optional<std::int64_t> most_records;  ///< N, of one pass; none for streams without a known end
  /// Mean records of a client in a pass, where every record counts alike: of each batch N̄/N is filled on average. None:
  /// N, as where gradients are means over a client's own batches.
  std::optional<double> mean_records;
  std::size_t dimension = 1;                ///< parameters of the model
  ChargeKind noise = ChargeKind::gaussian;  ///< gaussian, laplace, or unbounded for none
  double price = 1;    ///< μ or ε of one use of a record; of clients with different prices 1/√(mean of 1/price²)
  double scores = 1;   ///< K, scores of a record
  double slope = 0.5;  ///< |ℓ'| of a record whose classes are even, or of a typical label at a score of 0
  double unit = 1;     ///< u (Loss::unit_of_scores)
  bool classifies = true;
  bool constant_alone = false;  ///< whether the model learns no feature, so that no record is longer than others
  bool in_logarithms = false;   ///< whether scores are logarithms of means
  bool has_far_labels = false;  ///< whether labels are standardised numbers whose slopes grow with their distance
  /// sup ℓ'' of a loss whose slope has no bound, where nothing clips gradients: a step is stable then if it is no
  /// longer than 1/(ℓ'' R²), and than 1/(ℓ'' Q²/m) for a batch that has a record of the largest norm Q. None: gradients
  /// are bounded.
  std::optional<double> curvature;
  /// Q; where gradients are means over a client's own batches, a norm counts √(N/N_k) times. None: nobody knows.
  std::optional<double> largest_norm;
  double l2 = 0;                                          ///< λ of a penalty (λ/2)‖x‖²
  std::optional<Round> rounds_of_fit;                     ///< T E of a fit to the end; none: what the rule plans
  double room = std::numeric_limits<double>::infinity();  ///< of the domain (Domain::room)
  MapScale map;
  bool correlates = false;  ///< whether the noise of a client may be correlated over its rounds

  std::optional<double> norm;     ///< R, Euclidean; none: nobody knows
  std::optional<double> norm_l1;  ///< likewise in L1, for Laplace noise; none: R
  /// A, which takes the place of R if scores are not linear in the parameters (model/network/noise_norm.hpp); none: R.
  std::optional<double> noise_norm;
  /// Euclidean norm of a network's parameters at the start; none: the start has no scale of its own.
  std::optional<double> start_norm;
  std::int64_t epochs = 1;
  std::optional<Round> rounds;
  std::optional<std::size_t> batch;
  std::optional<double> clip;
  std::optional<double> step;
};

/// Settings of a run: those that the user gave, and the rule's choices for the others.
struct LearningRule {
  Round rounds_of_pass = 1;  ///< T, of the client with most records
  Round rounds = 1;          ///< of all passes, or as many as were asked for
  std::size_t batch = 1;
  double clip = 1;
  double clip_widening = 1;  ///< 1, or 1.5 to 2, or 0.5 to 1: C in multiples of |ℓ'| R, or A, where nobody settled it
  double norm = 2;           ///< R, or what is taken for it
  double noise_norm = 2;     ///< A, or R
  double step = 1;           ///< η_1
  /// η_1 if there were no noise: √(256/(T E)) N/N̄ times the smaller of 16 u/(C R), by the map's pace, and the start's
  /// norm over C; without the root in a fit to the end. Below 8 rounds √32 T E/8 is in place of the root. 1/(ℓ''
  /// max(R², Q²/m) + λ), by the map's pace, where nothing bounds gradients.
  double unhindered_step = 1;
  double score_noise = 0;   ///< s1, of scores or exponents
  double prefix_noise = 0;  ///< v; 0 without noise
  std::optional<NoiseCorrelation> correlation;

  /// Whether scores are linear in the parameters, as far as the rule was told.
  [[nodiscard]] bool linear() const { return noise_norm == norm; }
  /// Deviation that noise gives a typical score, or exponent, by the end of a run of constant steps η_1.
  [[nodiscard]] double noise_of_scores() const { return step * score_noise; }
};

/// Levels of signal_to_noise().
inline constexpr double signal_of_little_cost = 25;
inline constexpr double signal_of_some_cost = 10;
/// R where nobody knows it.
inline constexpr double usual_norm = 2;
/// Deviation, in logits, that noise may give each of so many scores of a record at the end of a run of constant steps.
[[nodiscard]] double useful_shift(double scores);

/// κ_cap under this rule: no step is longer than so many times the first (step debt).
inline constexpr double step_cap_of_rule = 100;
/// The same under noise between pairs: none that binds.
inline constexpr double step_cap_of_pairs = 1e6;
/// Rounds of all passes together that the rule plans for: more gain little, fewer lose accuracy.
inline constexpr Round rounds_of_rule = 256;
/// Likewise without noise, of networks, and of losses whose slope has no bound: steps are short there.
inline constexpr Round rounds_of_short_steps = 1024;
/// Rounds of a fit to the end without noise: as many, from 256 to 4096, as take some seconds of one processor, where
/// so many clients with batches of 64 records learn so many parameters.
[[nodiscard]] Round rounds_of_fit(double clients, double parameters);
/// Passes without noise, of clients with so many records at most: as many as make batches of 64 records, from 1 to a
/// quarter of the rounds.
/// Where gradients are means over a client's own batches, clients with `least_records` are to have one in each batch,
/// as far as batches of 4096 records allow it. `rounds` are those of all passes.
[[nodiscard]] std::int64_t passes_without_noise(std::int64_t most_records, std::optional<std::int64_t> least_records,
                                                Round rounds);

/// Throws UsageError unless counts are at least 1 and n, price, slope and norms positive.
[[nodiscard]] LearningRule learning_rule(const RuleFacts& facts);

/// Whether independent noise wants no more rounds than there are passes: each then takes all records, and correlated
/// noise would have nothing to take back. Not where rounds or the batch are settled, or N is unknown.
[[nodiscard]] bool whole_passes_suffice(const RuleFacts& facts);

/// T, or no less than it, whatever the norms of records are. `most_records` must be known.
[[nodiscard]] Round most_rounds_of_pass(RuleFacts facts);

/// ρ = μ max(1, E/2) N̄ √n/(v d): the signal of all uses of records against the noise, per parameter. 0 without a known
/// N.
[[nodiscard]] double signal_to_noise(const RuleFacts& facts, const LearningRule& rule);

}  // namespace starling
