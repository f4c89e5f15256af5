/// The warm-up of `starling infer` (docs/methods/inference.md, "Warm-up").
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/boundary.hpp"
#include "core/columns.hpp"
#include "privacy/mechanism/second_part.hpp"
#include "protocol/aggregated/preconditioned.hpp"

namespace starling {

class Agreement;
struct Dataset;
struct EngineParts;
struct InferConfig;

/// Limits of a sum over records that is released once: its number of records (the grid of privacy/noise/grid.hpp ends
/// at 2^22), and the room for roundings that so many need, in multiples of the sum's clip.
inline constexpr double most_records_of_sum = 4'000'000;
inline constexpr double room_of_sum = 1 + 0x1p-8;

/// The first rounds of a run, which are no steps: their records make the coordinates in which all steps are taken. In
/// this order: part(), when the run's mechanism is made; play(), before the engine is made.
class WarmUp {
 public:
  /// Keeps references. `label`: whether labels are numbers, which give a start as well.
  WarmUp(const InferConfig& config, const Dataset& dataset, bool label, Round rounds)
      : config_(config), dataset_(dataset), label_(label), rounds_(rounds) {}

  [[nodiscard]] Round rounds() const { return rounds_; }
  /// The part of releases that has a client's sum of second moments. Throws UsageError where there can be none.
  [[nodiscard]] SecondPart part() const;
  /// Plays the rounds. Then gives `parts` the start, the first step's round, and a model and a mechanism that know the
  /// coordinates in place of its own; its mechanism must have part(). `parts` must not outlive the warm-up. Returns the
  /// features that have most of a direction in which noise hides how they vary. May be called again, for a replication.
  /// **Collective.**
  [[nodiscard]] std::vector<std::size_t> play(EngineParts& parts, Agreement& agreement);
  /// Whether the last play() has found the scales of the features.
  [[nodiscard]] bool found_scales() const { return preconditioner_ && preconditioner_->found_scales(); }

 private:
  [[nodiscard]] MomentSums sums() const;
  [[nodiscard]] Released<Vector> moments_of_client(std::size_t k, const EngineParts& parts) const;

  const InferConfig& config_;
  const Dataset& dataset_;
  bool label_;
  Round rounds_;
  std::optional<Preconditioner> preconditioner_;
  std::optional<Released<Vector>> start_;
  std::optional<PreconditionedModel> model_;
  std::optional<PreconditionedReleases> releases_;
};

}  // namespace starling
