/// Layers of networks.
///
/// x are a layer's inputs, y its outputs, d_x and d_y the derivatives by them, with a row per record.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "model/network/network.hpp"

namespace starling {

/// Shapes and sizes of a layer.
struct LayerFacts {
  ImageShape inputs;
  ImageShape outputs;
  std::size_t parameters = 0;
  std::size_t fan_in = 1;  ///< inputs of one output
  std::string name;
};

template <class T>
class Layer {
 public:
  explicit Layer(LayerFacts facts) : facts_(std::move(facts)) {}
  virtual ~Layer() = default;

  [[nodiscard]] const LayerFacts& facts() const { return facts_; }
  [[nodiscard]] std::size_t inputs() const { return facts_.inputs.size(); }
  [[nodiscard]] std::size_t outputs() const { return facts_.outputs.size(); }

  virtual void forward(const T* parameters, std::size_t records, const T* x, T* y) = 0;
  virtual void backward(const T* parameters, std::size_t records, const T* x, const T* y, const T* d_y, T* d_x) = 0;

  // Functions of layers with parameters:
  /// Writes the gradient, summed over the records.
  virtual void gradient(std::size_t /*records*/, const T* /*x*/, const T* /*d_y*/, T* /*sum*/) {}
  /// Writes one gradient norm per record, as Network does.
  virtual void record_norms(std::size_t /*records*/, const T* /*x*/, const T* /*d_y*/, Norm /*norm*/,
                            std::span<double> /*norms*/) {}
  /// Writes the weighted gradient, as Network does. May overwrite `d_y`.
  virtual void weighted_gradient(std::span<const double> /*factors*/, const T* /*x*/, T* /*d_y*/, T* /*sum*/) {}

 private:
  LayerFacts facts_;
};

template <class T>
std::unique_ptr<Layer<T>> make_dense(std::size_t inputs, std::size_t outputs);
template <class T>
std::unique_ptr<Layer<T>> make_convolution(const ImageShape& inputs, const ConvolutionLayer& spec);
template <class T>
std::unique_ptr<Layer<T>> make_max_pool(const ImageShape& inputs);
template <class T>
std::unique_ptr<Layer<T>> make_relu(const ImageShape& inputs);

}  // namespace starling
