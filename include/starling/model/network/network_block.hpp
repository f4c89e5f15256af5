/// A block of a network that is split among ranks (method 5): the feature network of a party, or the head.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "starling/core/boundary.hpp"
#include "starling/model/network/network.hpp"

namespace starling {

/// Numbers go in and out as doubles, which hold floats as they are. Batches may have any number of records; a record's
/// outputs are the same bits whatever else is in its batch.
class NetworkBlock {
 public:
  virtual ~NetworkBlock() = default;
  [[nodiscard]] virtual std::size_t inputs() const = 0;
  [[nodiscard]] virtual std::size_t outputs() const = 0;
  /// The number of parameters.
  [[nodiscard]] virtual std::size_t dimension() const = 0;
  /// Network's start values.
  [[nodiscard]] virtual Vector initial(std::uint64_t seed, std::uint64_t block) const = 0;

  /// The outputs, M × outputs(), for M records with M × inputs() numbers, row after row; valid until the next call. A
  /// record whose outputs are not all finite is out of range: its outputs are 0.
  virtual View forward(View parameters, View inputs) = 0;
  /// Which records of the last `forward` are out of range (M entries).
  [[nodiscard]] virtual std::span<const char> out_of_range() const = 0;

  /// From the derivatives by the outputs of the last `forward` (M × outputs()): Σ_i clip(∇_i), the sum of the records'
  /// gradients, clipped as GradientSum says, into `gradient` (resized to dimension()). Records that are out of range,
  /// or whose gradient is, add nothing. Returns how many these are.
  virtual std::size_t gradient(View d_outputs, const Clip& clip, Vector& gradient) = 0;
  /// And the derivatives by the inputs into `d_inputs` (resized to M × inputs()); 0 for records out of range, and where
  /// a derivative is not finite.
  virtual void input_derivatives(View d_outputs, Vector& d_inputs) = 0;
};

/// Throws UsageError as Network does.
[[nodiscard]] std::unique_ptr<NetworkBlock> make_network_block(const Architecture& architecture, Precision precision);

}  // namespace starling
