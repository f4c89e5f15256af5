// Checks that a model is finite and bounded. Internal to the protocol module.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "core/columns.hpp"
#include "core/links.hpp"

namespace starling {

/// Whether all parameters are finite and at most `largest` in magnitude.
inline bool is_bounded(View model, double largest) {
  return std::all_of(model.begin(), model.end(), [=](double x) { return std::abs(x) <= largest; });
}

/// Throws DataError unless the model is bounded by `largest`. A model is a function of released values and public
/// numbers, so the error reveals nothing about a record.
inline void require_bounded_model(View model, double largest, Client client, Round t) {
  if (is_bounded(model, largest)) return;
  fail<DataError>(
      "client {}, round {}: the model is not finite or has numbers beyond {:g}: steps are too long, or a neighbour has "
      "sent such a model. Use a smaller --step, or keep models in a bounded --domain.",
      client, t + 1, largest);
}

}  // namespace starling
