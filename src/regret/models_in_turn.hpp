/// Repeated passes over the models of a rank's clients in bounded memory.
#pragma once

#include <algorithm>
#include <cstddef>

#include "protocol/observer.hpp"

namespace starling {

/// The models, all at once if they fit into the memory limit, otherwise a block of clients at a time. Blocks are
/// computed anew in each pass. Sums over clients have the same bits either way, since the order is the same.
class ModelsInTurn {
 public:
  static constexpr std::size_t part = 8;

  /// Keeps a reference to the view, whose round must not change meanwhile.
  ModelsInTurn(const RoundView& view, std::size_t most_numbers)
      : view_(view),
        clients_(view.masses().size()),
        at_most_(most_numbers / std::max<std::size_t>(clients_ > 0 ? view.model(0).size() : 1, 1)),
        at_once_(std::max<std::size_t>(at_most_ / part, 1)) {}

  /// Calls f(first, models) with the models of local clients first, first + 1, …, in order.
  template <class F>
  void each(F&& f) {
    if (clients_ <= at_most_) {
      if (!kept_) all_ = view_.some_models(0, clients_);
      kept_ = true;
      f(std::size_t{0}, all_);
      return;
    }
    for (std::size_t k = 0; k < clients_; k += at_once_) f(k, view_.some_models(k, std::min(at_once_, clients_ - k)));
  }

 private:
  const RoundView& view_;
  std::size_t clients_;
  std::size_t at_most_;
  std::size_t at_once_;
  bool kept_ = false;
  Released<Columns> all_ = declare_public(Columns());  // if kept_
};

}  // namespace starling
