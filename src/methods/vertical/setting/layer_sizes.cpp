// Sizes of a network's layers.
#include <algorithm>

#include "core/check.hpp"
#include "core/text/spec.hpp"
#include "vertical_config.hpp"

namespace starling {

LayerSizes LayerSizes::parse(const std::string& text) {
  std::vector<std::optional<std::size_t>> sizes;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t dash = std::min(text.find('-', from), text.size());
    const std::string part = text.substr(from, dash - from);
    const bool number = !part.empty() && part.size() <= 8 && part.find_first_not_of("0123456789") == std::string::npos;
    check(number || part == "d",
          "'{}': '{}' is no size of a layer: sizes are whole numbers with dashes between them, and d stands for what "
          "the data have. Write them as in d-128-16.",
          text, part);
    sizes.push_back(number ? std::optional(static_cast<std::size_t>(parse_integer(part, text))) : std::nullopt);
    check(sizes.back() != 0, "'{}': a layer of size 0: it would let nothing through. Leave it out.", text);
    from = dash + 1;
  }
  check(sizes.size() >= 2, "'{}': one size: a network has inputs and outputs. Give at least two.", text);
  LayerSizes result{sizes.front(), {}, sizes.back()};
  for (std::size_t i = 1; i + 1 < sizes.size(); ++i) {
    check(sizes[i].has_value(), "'{}': d in the middle: the data say nothing of hidden layers. Give a number.", text);
    result.hidden.push_back(*sizes[i]);
  }
  return result;
}

Architecture LayerSizes::architecture(std::size_t inputs_there, std::size_t outputs_there,
                                      const std::string& what) const {
  check(inputs.value_or(inputs_there) == inputs_there,
        "{} begins with {} and there are {} inputs: they must agree. Begin with {}, or with d.", what,
        inputs.value_or(0), inputs_there, inputs_there);
  std::vector<std::size_t> widths{inputs_there};
  widths.insert(widths.end(), hidden.begin(), hidden.end());
  widths.push_back(outputs.value_or(outputs_there));
  return perceptron(widths);
}

}  // namespace starling
