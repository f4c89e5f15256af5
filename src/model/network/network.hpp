/// Networks of layers: forward and backward passes over a batch, with parameters as one vector. Losses and records
/// enter in model/network/network_model.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/boundary.hpp"

namespace starling {

/// Shape of a record: height × width points of `channels` numbers each, row after row, with a point's channels side by
/// side. A plain vector is one point.
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
/// Maximum of 2×2 points, channel by channel, without an odd last row or column. The first of equal points gets the
/// gradient.
struct MaxPoolLayer {};
/// max(0, x); the gradient at 0 is 0.
struct ReluLayer {};

using LayerSpec = std::variant<DenseLayer, ConvolutionLayer, MaxPoolLayer, ReluLayer>;

/// Arithmetic of a network: float or double.
enum class Precision { single, full };

/// Input and layers of a network.
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

/// The layers as texts: "dense 128", "convolution 5 32" (kernel, channels), "max-pool", "relu".
[[nodiscard]] std::vector<std::string> layer_texts(const Architecture& architecture);
/// The network with these layers. Throws DataError for a text that names no layer.
[[nodiscard]] Architecture parse_layers(const ImageShape& input, const std::vector<std::string>& layers);

/// A matrix among the parameters of a model. Its entry (i, j) is parameter first + i · stride + j.
struct ParameterBlock {
  std::string name;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t first = 0;
  std::size_t stride = 0;
};

/// Weights (inputs of an output × outputs) and biases (1 × outputs) of the layers that have parameters, in their order.
/// Names are "1-dense/weights", "1-dense/bias", ….
[[nodiscard]] std::vector<ParameterBlock> parameter_blocks(const Architecture& architecture);

template <class T>
class Layer;

/// A network with arithmetic in T, float or double. It keeps the values between its layers for the last batch, and
/// scratch memory that grows with the largest batch. Nothing is allocated after the first passes over batches of one
/// size.
///
/// A record's outputs do not depend, bit for bit, on the rest of its batch.
template <class T>
class Network {
 public:
  /// Throws UsageError for a layer that does not fit its input (such as a kernel larger than the image) and for more
  /// parameters than a message can hold.
  explicit Network(const Architecture& architecture);
  ~Network();
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;

  [[nodiscard]] std::size_t inputs() const { return inputs_; }
  [[nodiscard]] std::size_t outputs() const { return outputs_; }
  /// Number of parameters. Their order is layer by layer.
  [[nodiscard]] std::size_t dimension() const { return dimension_; }

  /// The blocks of parameter_blocks.
  [[nodiscard]] std::vector<ParameterBlock> blocks() const;

  /// Outputs of M records (M × outputs(), valid until the next call) at M × inputs() numbers, row after row. Both
  /// arguments must remain unchanged until the passes below are done.
  std::span<const T> forward(std::span<const T> parameters, std::span<const T> inputs);

  /// Backward pass, from the derivatives by the outputs of the last `forward` (M × outputs(), copied) to the
  /// derivatives by all values between the layers and, if asked, by the inputs.
  enum class Reach { parameters, inputs };
  void backward(std::span<const T> d_outputs, Reach reach = Reach::parameters);
  /// Derivatives by the inputs (M × inputs(), valid until the next call), after a `backward` that reached them.
  [[nodiscard]] std::span<const T> d_inputs() const;

  // After `backward`, in any order; weighted_gradient comes last, since it overwrites values that the others need:
  /// Writes the gradient, summed over the records, into `sum` (dimension() entries).
  void gradient(std::span<T> sum);
  /// Writes the gradient of record i.
  void record_gradient(std::size_t i, std::span<T> gradient);
  /// Writes an upper bound of the norm of each record's gradient (M entries): the norm up to roundings in double (at
  /// most dimension() + 64, one after the other), and the L1 norm where squares of the L2 norm underflow. The L1 norm
  /// of a dense layer's gradient is |d|₁(|x|₁ + 1), the L2 norm |d|₂ √(|x|₂² + 1); gradients of convolutions are
  /// formed. The bound is infinite if a dense layer's inputs are longer than 1e15 (float) or 1e150 (double).
  void record_norms(Norm norm, std::span<double> norms);
  /// Writes Σ_i factor_i ∇_i; after `record_norms`. Each term is the gradient that record_norms measured, scaled with
  /// at most 2 roundings in T and added with at most M + 1 more.
  void weighted_gradient(std::span<const double> factors, std::span<T> sum);

  /// Start values: each layer's parameters uniform on ±1/√fan-in. Random numbers are addressed by seed, index and
  /// `block`, the number of the network within a run.
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
  std::vector<double> norms_;  ///< norms of one layer's part of each record's gradient
  std::vector<double> sums_;   ///< sums of the layers' norms
};

extern template class Network<float>;
extern template class Network<double>;

}  // namespace starling
