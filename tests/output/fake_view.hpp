/// Clients of a rank whose state a test makes up.
#pragma once

#include <algorithm>
#include <vector>

#include "protocol/observer.hpp"

namespace starling::testing_support {

/// Clients that are always present, of mass 1 and without records; where they are, a test says.
class FakeView : public RoundView {
 public:
  FakeView(std::size_t dimension, std::size_t clients)
      : masses_(clients, 1.0), played_(clients), dimension_(dimension) {}
  void go(Round done) { done_ = done; }

  [[nodiscard]] Round done() const override { return done_; }
  [[nodiscard]] Released<Columns> some_models(std::size_t first, std::size_t count) const override {
    Columns some(dimension_, count);
    for (std::size_t k = 0; k < count; ++k) {
      const View x = model(first + k);
      std::copy(x.begin(), x.end(), some[k].begin());
    }
    return declare_public(some);
  }
  [[nodiscard]] View model(std::size_t k) const override { return shown_ = place(k); }
  [[nodiscard]] bool stepped(std::size_t) const override { return true; }
  [[nodiscard]] View masses() const override { return masses_; }
  [[nodiscard]] const Played& played() const override { return played_; }

 protected:
  /// Model of local client k, now.
  [[nodiscard]] virtual Vector place(std::size_t k) const = 0;

  Vector masses_;
  Played played_;

 private:
  std::size_t dimension_;
  Round done_ = 0;
  mutable Vector shown_;
};

}  // namespace starling::testing_support
