/// The kinds of streams. Internal to the data room: others call open_dataset.
#pragma once

#include "passes.hpp"
#include <functional>
#include <memory>
#include <utility>

#include "starling/data/stream.hpp"
#include "starling/data/synthetic.hpp"

namespace starling {

/// A client's records, held in memory as compactly as they stood in the file, served in its order.
class StoredStream final : public Stream {
 public:
  StoredStream(Secret<Batch> records, const Passes& passes) : records_(std::move(records)), passes_(passes) {}
  [[nodiscard]] const Secret<Batch>& next(Round t) override;
  [[nodiscard]] bool ended(Round t) const override { return passes_.ended(t); }
  [[nodiscard]] std::int64_t participations() const override { return passes_.participations(); }
  [[nodiscard]] std::optional<std::int64_t> records() const override { return passes_.records(); }

 private:
  Secret<Batch> records_;
  Passes passes_;
  Secret<Batch> batch_;
};

/// Records that are drawn when they are asked for. Round t of a pass is drawn from the address (seed, data, client,
/// t + 1), so a second pass gives the same records again.
class GeneratedStream final : public Stream {
 public:
  /// `label_map` may throw DataError.
  GeneratedStream(std::shared_ptr<const Generator> generator, std::function<double(double)> label_map,
                  std::uint64_t seed, Client client, const Passes& passes);
  [[nodiscard]] const Secret<Batch>& next(Round t) override;
  [[nodiscard]] bool ended(Round t) const override { return passes_.ended(t); }
  [[nodiscard]] std::int64_t participations() const override { return passes_.participations(); }
  [[nodiscard]] std::optional<std::int64_t> records() const override { return passes_.records(); }

 private:
  std::shared_ptr<const Generator> generator_;
  std::function<double(double)> label_map_;
  std::uint64_t seed_;
  std::uint64_t client_;
  Passes passes_;
  Vector values_;
  Secret<Batch> batch_;
};

}  // namespace starling
