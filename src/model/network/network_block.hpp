/// A block of a network that is split among ranks (docs/methods/vertical.md): a party's feature network, or the head.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/boundary.hpp"
#include "model/network/network.hpp"

namespace starling {

/// A network with doubles as inputs and outputs, whatever its arithmetic. Batches may have any number of records. A
/// record's outputs do not depend, bit for bit, on the rest of its batch.
class NetworkBlock {
 public:
  virtual ~NetworkBlock() = default;
  [[nodiscard]] virtual std::size_t inputs() const = 0;
  [[nodiscard]] virtual std::size_t outputs() const = 0;
  /// Number of parameters.
  [[nodiscard]] virtual std::size_t dimension() const = 0;
  /// Start values of Network.
  [[nodiscard]] virtual Vector initial(std::uint64_t seed, std::uint64_t block) const = 0;

  /// Outputs, M × outputs(), of M records with M × inputs() numbers, row after row; valid until the next call. A record
  /// with an output that is not finite is out of range, and its outputs are 0.
  virtual View forward(View parameters, View inputs) = 0;
  /// Whether each record of the last `forward` is out of range (M entries).
  [[nodiscard]] virtual std::span<const char> out_of_range() const = 0;

  /// Writes Σ_i clip(∇_i), clipped as by GradientSum, into `gradient` (resized to dimension()), given the derivatives
  /// by the outputs of the last `forward` (M × outputs()). Records out of range, and records whose gradient is, add
  /// nothing. Returns their number.
  virtual std::size_t gradient(View d_outputs, const Clip& clip, Vector& gradient) = 0;
  /// Writes the derivatives by the inputs into `d_inputs` (resized to M × inputs()): 0 for records out of range and in
  /// place of a derivative that is not finite.
  virtual void input_derivatives(View d_outputs, Vector& d_inputs) = 0;
};

/// Throws the UsageErrors of Network.
[[nodiscard]] std::unique_ptr<NetworkBlock> make_network_block(const Architecture& architecture, Precision precision);

}  // namespace starling
