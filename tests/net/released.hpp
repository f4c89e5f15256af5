// Stands in for the privacy room, which makes and opens what passes the aggregator's door.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/boundary.hpp"

namespace starling {

class Release {
 public:
  static Entrusted<Vector> entrust(Vector value) { return {ReleaseKey(), std::move(value)}; }
  static Masked mask(std::vector<std::uint64_t> words) { return {ReleaseKey(), std::move(words)}; }
  static const Vector& open(const Secret<Vector>& secret) { return secret.open(OpenKey()); }
};

}  // namespace starling
