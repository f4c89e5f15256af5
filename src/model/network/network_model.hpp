/// Networks as models: a loss of the outputs of a network.
#pragma once

#include <type_traits>

#include "loss/loss.hpp"
#include "model/model.hpp"
#include "model/network/gradient_sum.hpp"
#include "model/network/network.hpp"

namespace starling {

/// A loss of a network's outputs. The network computes in T (float or double), losses are in double, and GradientSum
/// clips the records' gradients.
template <class T>
class NetworkModel final : public Model {
 public:
  static constexpr std::size_t chunk_records = GradientSum<T>::chunk_records;

  /// `loss` must outlive the model. Throws UsageError if the numbers of outputs and of the loss's scores differ.
  NetworkModel(const Loss& loss, const Architecture& architecture);

  [[nodiscard]] std::size_t dimension() const override { return network_.dimension(); }
  [[nodiscard]] bool classifies() const override { return loss_.classifies(); }
  /// Uniform on ±1/√fan-in, layer by layer, addressed by seed and index.
  [[nodiscard]] std::optional<Vector> initial(std::uint64_t seed) const override { return network_.initial(seed); }
  [[nodiscard]] double largest_parameter() const override { return std::is_same_v<T, float> ? 1e8 : 1e100; }
  /// Throws UsageError for a clip below the precision of T.
  Score evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) override;
  [[nodiscard]] Score score(View parameters, const Batch& batch) override;

  /// GradientSum's η.
  [[nodiscard]] double clip_margin() const { return sum_.clip_margin(); }
  [[nodiscard]] Summing summing() const override { return {chunk_records, clip_margin()}; }

 private:
  void load_parameters(View parameters);
  /// Forward pass of records first … first + count − 1. Writes their scores into own_ and, if asked, the derivatives of
  /// their losses into d_scores_.
  void play(const Batch& batch, std::size_t first, std::size_t count, bool derivatives);
  void load_inputs(const Batch& batch, std::size_t first, std::size_t count);

  const Loss& loss_;
  Network<T> network_;
  GradientSum<T> sum_;
  std::vector<T> parameters_;
  std::vector<T> inputs_;
  std::vector<T> d_scores_;
  Vector scores_;
  Vector derivative_;
  std::vector<Score> own_;
  std::vector<char> out_;  ///< whether a record is out of range
};

extern template class NetworkModel<float>;
extern template class NetworkModel<double>;

}  // namespace starling
