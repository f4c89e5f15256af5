/// Networks as models: a loss over the outputs of a network (method 5; dissertation, section 5.5).
#pragma once

#include <type_traits>

#include "starling/model/model.hpp"
#include "starling/model/network.hpp"

namespace starling {

/// The loss of a network's outputs, with the network's arithmetic in T (float or double), all norms and losses in
/// double, and each chunk of records' gradients added up in T, chunks in double.
///
/// Records are clipped without forming their gradients, but for those of convolutions and for ClipKind::component.
/// Why the sum is what a mechanism asks for (privacy/grid.hpp), though its rounding is not double's:
///
/// Let u be T's unit roundoff, v = 2^-53, γ_k = k u / (1 − k u), c = chunk_records, d = dimension(), B = clip.bound. A
/// record's gradient is taken to be the exact G_i of the T numbers that the passes have come to: for a dense layer the
/// outer product of the derivatives by its outputs and (inputs, 1), for a convolution the gradient as it was formed.
/// Its norm n_i is computed in double from these numbers, in which products of floats are exact, with less than d + 64
/// roundings one after the other: ‖G_i‖ ≤ n_i (1 + a), a = 2 (d + 64) v. With B' = B (1 − η) and f_i = min(1, B'/n_i)
/// the exact contribution C_i = f_i G_i has ‖C_i‖ ≤ B' (1 + a). A chunk's sum S in T applies at most c + 3 roundings to
/// each of its terms, one to scale and one to multiply, the others to add (the order does not matter; a product that is
/// fused has one less), so |S_j − Σ C_ij| ≤ γ_{c+3} Σ_i |C_ij| for each component j, and ‖S − Σ C_i‖ ≤ c γ_{c+3} B'(1 +
/// a). Batches that differ by one record differ in one chunk, whose sums are S and S': ‖S − S'‖ ≤ 2 B' (1 + a)(1 + c
/// γ_{c+3}). η = c γ_{c+3} + a + 2^-29 makes that at most 2 B: (1 − η)(1 + x) ≤ 1 for η ≥ x, and 2^-29 covers the
/// product of both terms, the roundings of B' and f_i, and underflow. The latter: scaling and products lose at most
/// half of T's smallest number each; inputs and norms above largest_norm (1e15 for float, 1e150 for double) are
/// refused, and so is a clip below 1e-15 for float, so what is lost is below 2^-60 of B. Chunk sums are added in
/// double, which is what the mechanism's proof counts as the summation of its contributions, here chunks with ‖S − S'‖
/// ≤ 2 B and ‖S‖ ≤ c B in place of single records. So the mechanism's margin stands, and η is taken from the clip
/// beside it: 2^-10 for float, 2^-29 for double.
///
/// ClipKind::component clamps each record's gradient in double, which is exact.
template <class T>
class NetworkModel final : public Model {
 public:
  /// Records whose gradients are added up in T.
  static constexpr std::size_t chunk_records = 128;

  /// `loss` must outlive it. Throws UsageError for a network with another number of outputs than the loss has scores.
  NetworkModel(const Loss& loss, const Architecture& architecture);

  [[nodiscard]] std::size_t dimension() const override { return network_.dimension(); }
  [[nodiscard]] bool classifies() const override { return loss_.classifies(); }
  /// Uniform on ±1/√fan-in, layer by layer, addressed by seed and index.
  [[nodiscard]] std::optional<Vector> initial(std::uint64_t seed) const override { return network_.initial(seed); }
  /// Throws DataError, naming the layer, for a gradient that is not finite and for one too long to be clipped exactly,
  /// and UsageError for a clip that T is too coarse for.
  Score evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) override;
  [[nodiscard]] Score score(View parameters, const Batch& batch) override;

  /// η.
  [[nodiscard]] double clip_margin() const;

 private:
  void load_parameters(View parameters);
  /// Forward through records first … first + count − 1; their loss, and if asked its derivatives into d_scores_.
  Score play(const Batch& batch, std::size_t first, std::size_t count, bool derivatives);
  void load_inputs(const Batch& batch, std::size_t first, std::size_t count);
  /// The chunk's clipped sum is added to `gradient`.
  void add_chunk(const Clip& clip, std::size_t count, Vector& gradient);
  void add_component_clipped(double bound, std::size_t count, Vector& gradient);
  void set_factors(const Clip& clip, std::size_t count);
  void add_sum(Vector& gradient);
  [[noreturn]] void refuse() const;

  const Loss& loss_;
  Network<T> network_;
  std::vector<T> parameters_;
  std::vector<T> inputs_;
  std::vector<T> d_scores_;
  std::vector<T> sum_;  ///< of one chunk, or one record's gradient
  Vector scores_;
  Vector derivative_;
  Vector factors_;
};

extern template class NetworkModel<float>;
extern template class NetworkModel<double>;

}  // namespace starling
