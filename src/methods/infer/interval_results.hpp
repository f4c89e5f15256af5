/// Confidence intervals of `starling infer`, as results of one engine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/boundary.hpp"
#include "core/columns.hpp"
#include "data/constants.hpp"
#include "inference/affine_map.hpp"
#include "output/intervals/interval.hpp"

namespace starling {

class Agreement;
class InferEngine;
class KeptParts;
class Observer;
struct InferConfig;
struct ParameterSpread;
struct RunIntervals;

/// Facts of a run on which its intervals depend. References must outlive the results.
struct IntervalFacts {
  Agreement& agreement;
  const Layout& layout;
  const InferConfig& config;
  std::size_t dimension;           ///< d
  std::vector<std::string> names;  ///< of the coefficients
  Vector records;                  ///< of each client; infinite where nobody knows beforehand
  bool noise_is_taken_back;        ///< by later steps
  bool standardised;               ///< all records are, by `constants`, which ranks with paths have
  const std::optional<PublicConstants>& constants;
  bool knows_scales;  ///< of the features, by public constants or a warm-up, or the path shows whether they suit it
  std::vector<std::size_t> left_out = {};  ///< features without a coefficient
};

/// The map to the units of the source; none where records are not standardised, or no intervals are wanted.
[[nodiscard]] std::optional<AffineMap> map_to_own_units(const IntervalFacts& facts);

/// The names of these coefficients in quotation marks.
[[nodiscard]] std::string quoted_names(const std::vector<std::size_t>& coefficients,
                                       const std::vector<std::string>& names);

/// Estimates of one engine with their intervals. In this order: observers() and add_parts() for the rounds; after them,
/// for one run, estimates(), summarise(), spread_of_parameters() and path_to(), or for a replication all_along().
class IntervalResults {
 public:
  IntervalResults() = default;
  IntervalResults(const IntervalResults&) = delete;
  IntervalResults& operator=(const IntervalResults&) = delete;
  virtual ~IntervalResults() = default;

  /// The observers of this rank's paths.
  [[nodiscard]] virtual std::vector<Observer*> observers() = 0;
  virtual void add_parts(KeptParts& parts) = 0;

  /// Models that the rounds end with, d × local clients. **Collective.**
  [[nodiscard]] virtual Released<Columns> estimates() = 0;
  /// Intervals, tests and whether they may be trusted, on rank 0; appends their notes to `notes`. **Collective.**
  [[nodiscard]] virtual RunIntervals summarise(std::vector<std::string>& notes) = 0;
  /// The spread of an aggregated regression's estimate, on rank 0; none where its rounds have not settled.
  [[nodiscard]] virtual std::optional<ParameterSpread> spread_of_parameters() const = 0;
  /// Intervals along the way of the aggregator, or of client 0, on rank 0. The aggregator's end is `last`, as
  /// summarise() has found it.
  [[nodiscard]] virtual std::vector<IntervalsAt> path_to(const std::vector<Interval>& last) const = 0;
  /// Intervals along the way of the aggregator, then all intervals of a run that has taken all its steps, on rank 0.
  /// Notes are left out. **Collective.**
  [[nodiscard]] virtual std::vector<IntervalsAt> all_along() = 0;
};

/// The results of an engine's estimator. Keeps references.
[[nodiscard]] std::unique_ptr<IntervalResults> make_interval_results(const IntervalFacts& facts, InferEngine& engine);

}  // namespace starling
