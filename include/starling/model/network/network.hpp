/// Networks of layers: forward and backward passes over a batch, with parameters as one flat vector. They know nothing
/// of losses and records; model/network/network_model.hpp makes a model of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "starling/core/boundary.hpp"

namespace starling {

/// What a record is to a network: height × width points of `channels` numbers each, row after row, a point's channels
/// side by side. A plain vector is one point.
struct ImageShape {
  std::size_t height = 1;
  std::size_t width = 1;
  std::size_t channels = 1;
  [[nodiscard]] std::size_t size() const { return height * width * channels; }
};

/// y = W'x + b. Parameters: W row after row, a row for each input, then b.
struct DenseLayer {
  std::size_t outputs;
};
/// y(i, j) = W' patch(i, j) + b over all patches of kernel × kernel points that lie within the image. Parameters: W row
/// after row, a row for each number of a patch (as it stands in the image), then b.
struct ConvolutionLayer {
  std::size_t kernel;
  std::size_t channels;
};
/// The largest of 2×2 points, channel by channel; a last odd row or column is left out. Of equals the first gets the
/// gradient.
struct MaxPoolLayer {};
/// max(0, x); the gradient at 0 is 0.
struct ReluLayer {};

using LayerSpec = std::variant<DenseLayer, ConvolutionLayer, MaxPoolLayer, ReluLayer>;

/// Arithmetic of a network: float or double.
enum class Precision { single, full };

struct Architecture {
  ImageShape input;
  std::vector<LayerSpec> layers;
};

/// Dense layers of these widths, the first being the number of inputs, with ReLU between them; the last is linear.
/// Throws UsageError for fewer than 2 widths and for widths outside 1 … 10^7.
[[nodiscard]] Architecture perceptron(const std::vector<std::size_t>& widths);

/// Convolutions of 5×5 to all of `widths` but the last, each followed by a 2×2 max-pool; a dense layer of the last
/// width with ReLU; a dense layer of `outputs`, linear (dissertation, section 5.5: no ReLU between the convolutions).
/// Images are square with one channel. Throws UsageError for fewer than 2 widths, and for `inputs` that are no square.
[[nodiscard]] Architecture convolutional(std::size_t inputs, const std::vector<std::size_t>& widths,
                                         std::size_t outputs);

template <class T>
class Layer;

/// T is float or double. A network holds the values between its layers of the last batch, and room for its work, which
/// grows with the largest batch seen: nothing is allocated after the first passes over batches of one size.
///
/// A record's outputs are the same bits whatever else is in its batch.
template <class T>
class Network {
 public:
  /// Throws UsageError for layers that do not fit onto their inputs, as a kernel that is larger than the image, and for
  /// more parameters than a message can hold.
  explicit Network(const Architecture& architecture);
  ~Network();
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;

  [[nodiscard]] std::size_t inputs() const { return inputs_; }
  [[nodiscard]] std::size_t outputs() const { return outputs_; }
  /// The number of parameters: those of the first layer, then those of the second, …
  [[nodiscard]] std::size_t dimension() const { return dimension_; }

  /// Outputs of each record (M × outputs(), valid until the next call) at M × inputs() numbers, row after row. Both
  /// arguments must stay as they are until the passes below are done.
  std::span<const T> forward(std::span<const T> parameters, std::span<const T> inputs);

  /// From the derivatives by the outputs of the last `forward` (M × outputs(), copied) to those by all values between
  /// the layers, and where asked by the inputs.
  enum class Reach { parameters, inputs };
  void backward(std::span<const T> d_outputs, Reach reach = Reach::parameters);
  /// By the inputs (M × inputs(), valid until the next call), after a `backward` that reached them.
  [[nodiscard]] std::span<const T> d_inputs() const;

  // After `backward`, any number of times but for the weighted one, which spoils what the others need:
  /// The gradient, summed over the records, into `gradient` (dimension() entries).
  void gradient(std::span<T> sum);
  /// The gradient of one record, the i-th.
  void record_gradient(std::size_t i, std::span<T> gradient);
  /// An upper bound of the norm of each record's gradient (M entries): the norm itself but for roundings in double (at
  /// most dimension() + 64, one after the other), and where squares underflow in L2, that in L1. The L1 norm of a dense
  /// layer's gradient is |d|₁(|x|₁ + 1), the L2 norm |d|₂ √(|x|₂² + 1); those of convolutions are formed. Infinite
  /// where a dense layer's inputs are longer than 1e15 (float) or 1e150 (double).
  void record_norms(Norm norm, std::span<double> norms);
  /// Σ_i factor_i ∇_i; after `record_norms`. Each term is what record_norms measured, scaled with at most 2 roundings
  /// in T, and added with at most M + 1 more.
  void weighted_gradient(std::span<const double> factors, std::span<T> sum);

  /// Start values: each layer's parameters uniform on ±1/√fan-in, addressed by seed, index and `block`, which tells
  /// networks of one run apart.
  [[nodiscard]] std::vector<double> initial(std::uint64_t seed, std::uint64_t block = 0) const;

 private:
  /// A layer, its place among the parameters, and its values and derivatives of the last batch.
  struct Stage {
    std::unique_ptr<Layer<T>> layer;
    std::size_t offset;
    std::vector<T> outputs;
    std::vector<T> d_outputs;
  };
  [[nodiscard]] std::span<const T> inputs_of(std::size_t stage) const;

  std::size_t inputs_;
  std::size_t outputs_ = 0;
  std::size_t dimension_ = 0;
  std::vector<Stage> stages_;
  std::size_t records_ = 0;
  std::span<const T> parameters_;
  std::span<const T> batch_;
  std::vector<T> d_inputs_;
  std::vector<double> norms_;  ///< of one layer's part of each record's gradient
  std::vector<double> sums_;   ///< of the layers' norms
};

extern template class Network<float>;
extern template class Network<double>;

}  // namespace starling
