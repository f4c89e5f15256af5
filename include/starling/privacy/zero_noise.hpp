/// A test double: the integer path of the Laplace mechanism without its noise. For tests; not private.
#pragma once

#include <string>
#include <vector>

#include "starling/privacy/grid.hpp"

namespace starling {

/// For tests; not private. Releases the sum rounded to the grid, and shows the integers. It is in no table.
class ZeroNoise final : public GridMechanism {
 public:
  explicit ZeroNoise(const ReleaseSettings& settings) : GridMechanism(settings), shown_(settings.dimension) {}

  [[nodiscard]] Charge charge() const override;
  [[nodiscard]] std::string description() const override;
  /// The integers of the last release.
  [[nodiscard]] const std::vector<std::int64_t>& integers() const { return shown_; }

 protected:
  void add_noise(const ReleaseAddress& address, const NoiseKey& key, std::span<std::int64_t> integers) override;

 private:
  std::vector<std::int64_t> shown_;
};

}  // namespace starling
