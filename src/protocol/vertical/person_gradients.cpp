#include "protocol/vertical/person_gradients.hpp"

#include <limits>

#include "core/numerics/kernels.hpp"
#include "privacy/clip_rows.hpp"

namespace starling {

std::size_t add_persons(NetworkBlock& network, const PlayedRows& rows, const PersonRows& persons, const Clip& clip,
                        Vector& gradient) {
  const Clip unclipped{clip.kind, std::numeric_limits<double>::infinity()};  // leaves out what is out of range
  Vector part;
  std::size_t out_of_range = 0;
  gradient.assign(network.dimension(), 0.0);
  for (std::size_t p = 0; p < persons.records.size(); ++p) {
    const std::size_t first = p * persons.places;
    const std::size_t count = persons.records[p];
    if (count == 0) continue;
    const auto own = [&](View all, std::size_t width) { return all.subspan(first * width, count * width); };
    network.forward(rows.parameters, own(rows.inputs, network.inputs()));
    const std::size_t left_out = network.gradient(own(rows.d_outputs, network.outputs()), unclipped, part);
    for (double& entry : part) entry /= static_cast<double>(count);
    out_of_range += left_out + clip_rows(part, part.size(), clip);
    axpy(1, part, gradient);
  }
  return out_of_range;
}

}  // namespace starling
