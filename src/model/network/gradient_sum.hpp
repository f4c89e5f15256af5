/// Sums of clipped gradients of a network's records, without forming the gradients.
#pragma once

#include <span>
#include <vector>

#include "core/boundary.hpp"
#include "model/network/network.hpp"

namespace starling {

/// Adds up the clipped gradients of a network's records. The network computes in T (float or double). Norms are in
/// double. Gradients are added in T within a chunk of records and in double from chunk to chunk. Per-record gradients
/// are formed only for convolutions and for ClipKind::component.
///
/// The sum has the sensitivity that a mechanism needs (privacy/noise/grid.hpp), although floats round more than
/// doubles:
///
/// Notation: u is T's unit roundoff, v = 2^-53, γ_k = k u / (1 − k u), c = chunk_records, d = dimension(), B the clip's
/// bound.
/// 1. A record's gradient is the exact G_i of the T numbers that the passes compute: for a dense layer the outer
///    product of the derivatives by its outputs and (inputs, 1), for a convolution the gradient that is formed. These
///    numbers do not depend on the other records of the batch, since products have the same bits row by row.
/// 2. Its norm n_i is computed in double from these numbers, with fewer than d + 64 roundings one after the other:
///    ‖G_i‖ ≤ n_i (1 + a), a = 2 (d + 64) v.
/// 3. With B' = B (1 − η) and f_i = min(1, B'/n_i) the exact contribution C_i = f_i G_i has ‖C_i‖ ≤ B' (1 + a).
/// 4. A chunk's sum S, in T, rounds each term at most c + 3 times: to scale it, to multiply, to add. So
///    |S_j − Σ C_ij| ≤ γ_{c+3} Σ_i |C_ij| for every component, whatever the order, and
///    ‖S − Σ C_i‖ ≤ c γ_{c+3} B' (1 + a).
/// 5. Batches that differ by one record differ in one chunk: ‖S − S'‖ ≤ 2 B' (1 + a)(1 + c γ_{c+3}) ≤ 2 B with
///    η = c γ_{c+3} + a + 2^-29, since (1 − η)(1 + x) ≤ 1 for η ≥ x. The 2^-29 is for the product of a and c γ, for
///    the roundings of B' and f_i, and for underflow, which takes half of T's smallest number from each product at
///    most: records with norms or inputs above 1e15 (double: 1e150) are out of range and add nothing, and floats'
///    clips below 1e-10 are refused, so that it takes less than 2^-35 B in all.
/// 6. Chunks are added in double. That is the summation which the mechanism's proof counts, with chunks of
///    ‖S − S'‖ ≤ 2 B and ‖S‖ ≤ c B in place of records. So its margin stands, and η is taken from the clip beside it:
///    2^-10 for float, 2^-29 for double.
///
/// A chunk with a record out of range is added record by record: f_i G_i in double, with G_i formed in T. Each term is
/// then rounded no more often than in step 4, so its bound holds for that chunk too. Which records are out of range,
/// and so C_i, depends on each record alone.
///
/// ClipKind::component clamps the components of each record's gradient in double, which is exact.
template <class T>
class GradientSum {
 public:
  /// Records whose gradients are added up in T.
  static constexpr std::size_t chunk_records = 128;

  /// Keeps a reference.
  explicit GradientSum(Network<T>& network) : network_(network), sum_(network.dimension()) {}

  /// Throws UsageError for a clip below the precision of T.
  static void check_clip(const Clip& clip);

  /// Adds the clipped gradients of the last batch to `gradient` (dimension() entries), after the network's `backward`.
  /// The batch has as many records as `out` has entries, at most chunk_records. Records with a true entry are left out;
  /// so are those whose gradient is out of range, whose entries become true.
  void add(const Clip& clip, std::span<char> out, Vector& gradient);

  /// η.
  [[nodiscard]] double clip_margin() const;

 private:
  void add_component_clipped(double bound, std::span<char> out, Vector& gradient);
  void add_one_by_one(const Clip& clip, std::span<char> out, Vector& gradient);
  [[nodiscard]] bool set_factors(const Clip& clip, std::span<char> out);
  [[nodiscard]] bool sum_is_finite() const;
  void add_sum(double factor, Vector& gradient) const;

  Network<T>& network_;
  std::vector<T> sum_;  ///< of one chunk, or one record's gradient
  Vector factors_;
};

extern template class GradientSum<float>;
extern template class GradientSum<double>;

}  // namespace starling
