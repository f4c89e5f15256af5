// Where in a run something was wrong with a record. Internal to the protocol room.
#pragma once

#include <utility>

#include "starling/core/check.hpp"
#include "starling/core/links.hpp"

namespace starling {

/// f(), whose complaints about data then name client and round.
template <class F>
void placed(Client u, Round t, F&& f) {
  try {
    std::forward<F>(f)();
  } catch (const DataError& error) {
    throw DataError(fmt::format("client {}, round {}: {}", u, t + 1, error.what()));
  }
}

}  // namespace starling
