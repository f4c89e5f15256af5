/// The models of a rank's clients, gone through more than once. Internal to the record room.
#pragma once

#include <algorithm>
#include <cstddef>

#include "starling/protocol/observer.hpp"

namespace starling {

/// Where all fit into the room that so many numbers take they are worked out once, and kept while this lives; else some
/// at a time, in a part of that room: with very many clients there is little to spare. What is summed over them is the
/// same bits either way, as their order is.
class ModelsInTurn {
 public:
  static constexpr std::size_t part = 8;

  /// Keeps a reference to the view, which must not go on meanwhile.
  ModelsInTurn(const RoundView& view, std::size_t most_numbers)
      : view_(view),
        clients_(view.masses().size()),
        at_most_(most_numbers / std::max<std::size_t>(clients_ > 0 ? view.model(0).size() : 1, 1)),
        at_once_(std::max<std::size_t>(at_most_ / part, 1)) {}

  /// Gives f(first, models) those of local clients first, first + 1, …, in order.
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
