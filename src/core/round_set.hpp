/// A set of rounds, built in ascending order.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/links.hpp"
#include "core/snapshot.hpp"

namespace starling {

/// Stored as spans of consecutive rounds: a client that plays every round has one span. There may be one set for each
/// of very many clients. A set of a single span takes no memory beside its own 24 bytes.
class RoundSet {
 public:
  using Span = std::pair<Round, Round>;  ///< first round, and one beyond the last

  RoundSet() = default;
  ~RoundSet() = default;
  RoundSet(RoundSet&& other) noexcept { swap(other); }
  RoundSet(const RoundSet& other)
      : last_(other.last_), earlier_(other.earlier_ ? std::make_unique<Spans>(*other.earlier_) : nullptr) {}
  RoundSet& operator=(RoundSet other) noexcept {
    swap(other);
    return *this;
  }
  /// The rounds 0 … count − 1.
  [[nodiscard]] static RoundSet first(Round count) {
    RoundSet set;
    set.last_ = {0, std::max<Round>(count, 0)};
    return set;
  }

  /// Adds round `t`, which must be after all rounds of the set.
  void add(Round t) {
    if (empty()) {
      last_ = {t, t + 1};
    } else if (last_.second == t) {
      ++last_.second;
    } else {
      if (!earlier_) earlier_ = std::make_unique<Spans>();
      earlier_->push_back(std::exchange(last_, {t, t + 1}));
    }
  }

  [[nodiscard]] bool empty() const { return last_.first == last_.second; }
  [[nodiscard]] Round size() const { return before(end()); }
  /// One more than the last round; 0 for none.
  [[nodiscard]] Round end() const { return last_.second; }
  /// Number of rounds of the set before t.
  [[nodiscard]] Round before(Round t) const {
    Round total = 0;
    for_each_span([&](const Span& span) { total += std::clamp(t, span.first, span.second) - span.first; });
    return total;
  }
  void for_each(const std::function<void(Round)>& action) const {
    for_each_span([&](const Span& span) {
      for (Round t = span.first; t < span.second; ++t) action(t);
    });
  }
  /// Calls f with each span, in order.
  template <class F>
  void for_each_span(F&& f) const {
    if (earlier_) std::for_each(earlier_->begin(), earlier_->end(), f);
    if (!empty()) f(last_);
  }
  void persist(Snapshot& snapshot) {
    Spans spans;
    if (!snapshot.reading()) for_each_span([&](const Span& span) { spans.push_back(span); });
    snapshot(spans);
    if (!snapshot.reading()) return;
    *this = RoundSet();
    if (spans.empty()) return;
    last_ = spans.back();
    spans.pop_back();
    if (!spans.empty()) earlier_ = std::make_unique<Spans>(std::move(spans));
  }
  friend bool operator==(const RoundSet& a, const RoundSet& b) {
    if (a.last_ != b.last_ || !a.earlier_ != !b.earlier_) return false;
    return !a.earlier_ || *a.earlier_ == *b.earlier_;
  }

 private:
  using Spans = std::vector<Span>;

  void swap(RoundSet& other) noexcept {
    std::swap(last_, other.last_);
    earlier_.swap(other.earlier_);
  }

  Span last_{0, 0};
  std::unique_ptr<Spans> earlier_;  ///< the spans before `last_`; null if there are none
};

}  // namespace starling
