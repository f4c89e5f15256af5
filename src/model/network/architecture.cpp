#include <cmath>

#include "starling/core/check.hpp"
#include "starling/model/network/network.hpp"

namespace starling {

namespace {

constexpr std::size_t most_wide = 10'000'000;

void check_widths(const std::vector<std::size_t>& widths, const char* example) {
  check(widths.size() >= 2, "{} size{} of a network (at least two are needed) give them as in {}", widths.size(),
        widths.size() == 1 ? "" : "s", example);
  for (const std::size_t width : widths) {
    check(width >= 1 && width <= most_wide, "size {} of a layer (must be 1 to {}) give sizes as in {}", width,
          most_wide, example);
  }
}

}  // namespace

Architecture perceptron(const std::vector<std::size_t>& widths) {
  check_widths(widths, "mlp:784-128-10");
  Architecture result{{1, 1, widths.front()}, {}};
  for (std::size_t i = 1; i < widths.size(); ++i) {
    if (i > 1) result.layers.emplace_back(ReluLayer{});
    result.layers.emplace_back(DenseLayer{widths[i]});
  }
  return result;
}

Architecture convolutional(std::size_t inputs, const std::vector<std::size_t>& widths, std::size_t outputs) {
  check_widths(widths, "cnn:32-64-512");
  const auto side = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(inputs))));
  check(side * side == inputs, "{} features for a network of convolutions (images must be square) use mlp:{}-...",
        inputs, inputs);
  Architecture result{{side, side, 1}, {}};
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    result.layers.emplace_back(ConvolutionLayer{5, widths[i]});
    result.layers.emplace_back(MaxPoolLayer{});
  }
  result.layers.emplace_back(DenseLayer{widths.back()});
  result.layers.emplace_back(ReluLayer{});
  result.layers.emplace_back(DenseLayer{outputs});
  return result;
}

}  // namespace starling
