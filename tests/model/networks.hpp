/// What the tests of networks share.
#pragma once

#include <string>
#include <vector>

#include "core/random.hpp"
#include "model/network/network.hpp"

namespace starling::testing_support {

struct NetworkExample {
  std::string name;
  Architecture architecture;
};

inline void PrintTo(const NetworkExample& example, std::ostream* out) {
  *out << example.name;
}

/// Each kind of layer by itself, where it can be, and compositions; images of odd and of unequal sides too.
inline std::vector<NetworkExample> network_examples() {
  const ImageShape image{7, 6, 2};
  return {
      {"dense", {{1, 1, 5}, {DenseLayer{3}}}},
      {"dense_wide", {{1, 1, 300}, {DenseLayer{37}}}},
      {"relu", {{1, 1, 5}, {DenseLayer{6}, ReluLayer{}, DenseLayer{2}}}},
      {"convolution", {image, {ConvolutionLayer{3, 4}}}},
      {"whole_image_kernel", {{3, 3, 1}, {ConvolutionLayer{3, 5}}}},
      {"one_point_kernel", {{2, 3, 3}, {ConvolutionLayer{1, 2}}}},
      {"pool", {image, {ConvolutionLayer{2, 3}, MaxPoolLayer{}, DenseLayer{2}}}},
      {"odd_pool", {{6, 8, 1}, {ConvolutionLayer{2, 3}, MaxPoolLayer{}}}},
      {"pool_first", {image, {MaxPoolLayer{}, ConvolutionLayer{2, 3}, ReluLayer{}}}},
      {"perceptron", perceptron({8, 7, 6, 5, 4})},
      {"cnn", convolutional(256, {3, 4, 6}, 3)},
  };
}

template <class T>
std::vector<T> normal_numbers(std::size_t count, AddressedRandom& random, double scale = 1) {
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(scale * random.normal());
  return values;
}

}  // namespace starling::testing_support
