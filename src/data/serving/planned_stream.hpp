/// Base of streams whose number of records is known.
#pragma once

#include "data/passes.hpp"
#include "data/stream.hpp"

namespace starling {

/// A stream that plans its rounds as passes over a known number of records, or of persons.
class PlannedStream : public Stream {
 public:
  explicit PlannedStream(const Passes& passes) : passes_(passes) {}
  [[nodiscard]] bool ended(Round t) override { return passes_.ended(t); }
  [[nodiscard]] std::optional<std::int64_t> planned(Round t) const override { return passes_.size(t); }
  void plan(const Batching& batching) override { passes_.plan(batching); }
  [[nodiscard]] std::int64_t participations() const override { return passes_.participations(); }
  [[nodiscard]] std::optional<std::int64_t> records() const override { return passes_.records(); }
  [[nodiscard]] std::optional<Round> rounds_of_pass() const override { return passes_.rounds_of_pass(); }
  [[nodiscard]] std::optional<Round> rounds() const override { return passes_.rounds(); }

 protected:
  Passes passes_;
};

}  // namespace starling
