/// The stream of a client that joins a run later.
#pragma once

#include <memory>
#include <utility>

#include "data/stream.hpp"

namespace starling {

/// A stream whose first round is round `begin` of the run. It is not asked for records before.
class LateStream final : public Stream {
 public:
  LateStream(std::unique_ptr<Stream> stream, Round begin) : stream_(std::move(stream)), begin_(begin) {}
  [[nodiscard]] const Secret<Batch>& next(Round t) override { return stream_->next(t - begin_); }
  [[nodiscard]] bool ended(Round t) override { return stream_->ended(t - begin_); }
  [[nodiscard]] std::int64_t participations() const override { return stream_->participations(); }
  [[nodiscard]] std::int64_t uses_of_pass() const override { return stream_->uses_of_pass(); }
  void plan(const Batching& batching) override { stream_->plan(batching); }
  [[nodiscard]] std::optional<std::int64_t> records() const override { return stream_->records(); }
  [[nodiscard]] std::optional<Round> rounds_of_pass() const override { return stream_->rounds_of_pass(); }
  /// Rounds of the run up to the end of the stream; 0 if the stream has no record.
  [[nodiscard]] std::optional<Round> rounds() const override {
    const std::optional<Round> own = stream_->rounds();
    return own && *own > 0 ? std::optional(begin_ + *own) : own;
  }

 private:
  std::unique_ptr<Stream> stream_;
  Round begin_;
};

}  // namespace starling
