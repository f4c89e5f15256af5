/// Built-in generators of labelled streams (`synthetic:NAME`), public and replayable.
#pragma once

#include <memory>

#include "starling/core/random.hpp"
#include "starling/core/table.hpp"
#include "starling/data/stream.hpp"

namespace starling {

/// Draws one record of a generator.
class Generator {
 public:
  virtual ~Generator() = default;
  [[nodiscard]] virtual std::size_t features() const = 0;
  /// Records per client; 0 for no end.
  [[nodiscard]] virtual std::int64_t records() const = 0;
  /// A record of round t (from 1, the paper's count) into `values` (features() of them); returns the label.
  [[nodiscard]] virtual double draw(Round t, AddressedRandom& random, MutableView values) const = 0;
};

[[nodiscard]] const Table<Generator>& generator_table();

}  // namespace starling
