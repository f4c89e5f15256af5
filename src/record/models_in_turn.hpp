/// The models of a rank's clients, gone through more than once. Internal to the record room.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "starling/protocol/observer.hpp"

namespace starling {

/// Some at a time, in no more room than so many numbers take; where all fit into that they are worked out once, and
/// kept while this lives. What is summed over them is the same bits either way, as their order is.
class ModelsInTurn {
 public:
  /// Keeps a reference to the view, which must not go on meanwhile.
  ModelsInTurn(const RoundView& view, std::size_t most_numbers)
      : view_(view),
        clients_(view.masses().size()),
        at_once_(most_numbers / std::max<std::size_t>(clients_ > 0 ? view.model(0).size() : 1, 1)) {
    at_once_ = std::max<std::size_t>(at_once_, 1);
  }

  /// Gives f(first, models) those of local clients first, first + 1, …, in order.
  template <class F>
  void each(F&& f) {
    if (clients_ <= at_once_) {
      if (!all_) all_.emplace(view_.some_models(0, clients_));
      f(std::size_t{0}, *all_);
      return;
    }
    for (std::size_t k = 0; k < clients_; k += at_once_) f(k, view_.some_models(k, std::min(at_once_, clients_ - k)));
  }

 private:
  const RoundView& view_;
  std::size_t clients_;
  std::size_t at_once_;
  std::optional<Released<Columns>> all_;
};

}  // namespace starling
