#include <cmath>
#include <sstream>

#include "core/check.hpp"
#include "model/network/network.hpp"

namespace starling {

namespace {

constexpr std::size_t most_wide = 10'000'000;

void check_widths(const std::vector<std::size_t>& widths, const char* example) {
  check(widths.size() >= 2, "{} size{} of a network: at least two are needed. Give them as in {}.", widths.size(),
        widths.size() == 1 ? "" : "s", example);
  for (const std::size_t width : widths) {
    check(width >= 1 && width <= most_wide, "size {} of a layer: must be 1 to {}. Give sizes as in {}.", width,
          most_wide, example);
  }
}

struct LayerText {
  std::string operator()(const DenseLayer& layer) const { return fmt::format("dense {}", layer.outputs); }
  std::string operator()(const ConvolutionLayer& layer) const {
    return fmt::format("convolution {} {}", layer.kernel, layer.channels);
  }
  std::string operator()(const MaxPoolLayer&) const { return "max-pool"; }
  std::string operator()(const ReluLayer&) const { return "relu"; }
};

LayerSpec parse_layer(const std::string& text) {
  std::istringstream words(text);
  std::string name;
  std::vector<std::size_t> sizes;
  words >> name;
  for (std::size_t size = 0; words >> size;) {
    check<DataError>(size >= 1 && size <= most_wide, "layer '{}': its sizes must be 1 to {}", text, most_wide);
    sizes.push_back(size);
  }
  if (name == "dense" && sizes.size() == 1) return DenseLayer{sizes[0]};
  if (name == "convolution" && sizes.size() == 2) return ConvolutionLayer{sizes[0], sizes[1]};
  if (name == "max-pool" && sizes.empty()) return MaxPoolLayer{};
  if (name == "relu" && sizes.empty()) return ReluLayer{};
  throw DataError(fmt::format("unknown layer '{}': known are dense N, convolution K N, max-pool, relu.", text));
}

}  // namespace

std::vector<std::string> layer_texts(const Architecture& architecture) {
  std::vector<std::string> texts;
  for (const LayerSpec& layer : architecture.layers) texts.push_back(std::visit(LayerText(), layer));
  return texts;
}

Architecture parse_layers(const ImageShape& input, const std::vector<std::string>& layers) {
  Architecture architecture{input, {}};
  for (const std::string& text : layers) architecture.layers.push_back(parse_layer(text));
  return architecture;
}

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
  check(side * side == inputs, "{} features for a network of convolutions: images must be square. Use mlp:{}-...",
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
