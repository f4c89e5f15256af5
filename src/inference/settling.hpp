/// Whether a path of stochastic gradient descent has settled, so that the asymptotics of its intervals hold
/// (docs/methods/inference.md, "Has the path settled?"). Post-processing of released models: it costs no privacy.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/columns.hpp"
#include "core/snapshot.hpp"

namespace starling {

/// Means of consecutive blocks of a path of d-dimensional models. A block has as many models as any other: four, and
/// twice as many whenever there would be 512 blocks. So a long path has 256 to 511 blocks. With d above 64 there are
/// more blocks, 4d at least.
class PathBlocks {
 public:
  static constexpr std::int64_t shortest = 4;

  explicit PathBlocks(std::size_t dimension) : block_(dimension) {}
  /// Number of blocks that is never reached: 512, or 8d with d rounded up to a power of two.
  [[nodiscard]] std::size_t most() const { return std::max<std::size_t>(512, 8 * std::bit_ceil(dimension())); }
  /// Adds a model, d entries. O(d).
  void add(View theta);
  [[nodiscard]] std::size_t dimension() const { return block_.size(); }
  /// Number of complete blocks.
  [[nodiscard]] std::size_t count() const { return means_.size() / block_.size(); }
  /// Mean of block k, d entries.
  [[nodiscard]] View mean(std::size_t k) const { return View(means_).subspan(k * block_.size(), block_.size()); }

  void persist(Snapshot& snapshot) { snapshot(length_, in_block_, block_, means_); }

 private:
  void merge_pairs();

  std::int64_t length_ = shortest;
  std::int64_t in_block_ = 0;
  Vector block_;  ///< sum of the models of the current block
  Vector means_;  ///< of the complete blocks, one after the other
};

/// Figures of a path that tell whether it has settled, with their bounds.
struct Settling {
  /// Effective steps Σ γ_i λ of the slowest direction, λ its curvature: the number of times over that the path forgets
  /// where it began.
  double effective_steps = 0;
  double least_effective_steps = 0;  ///< a settled path has as many at least
  std::size_t slowest = 0;           ///< coordinate with the largest share of that direction
  /// Largest difference, over the coordinates, between the means of the second and of the last quarter, in standard
  /// errors.
  double drift = 0;
  double most_drift = 0;     ///< a settled path has no more
  std::size_t drifting = 0;  ///< coordinate of the largest difference
  [[nodiscard]] bool settled() const { return effective_steps >= least_effective_steps && drift <= most_drift; }
};

/// The figures of a path. None with fewer than 16 blocks, with fewer than 4d blocks, and for a path that does not move.
/// Noise that later steps take back makes adjacent blocks differ by more, and drifts look smaller: their bound is
/// lower.
[[nodiscard]] std::optional<Settling> settling_of(const PathBlocks& path, bool noise_is_taken_back = false);

}  // namespace starling
