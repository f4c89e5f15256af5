// Errors about records with the client and the round in which they came. Internal to the protocol module.
#pragma once

#include <utility>

#include "core/links.hpp"
#include "core/record_error.hpp"

namespace starling {

/// Runs f(). A RecordError gets the client and the round, counted from 0, before its message.
template <class F>
decltype(auto) naming_client(Client client, Round t, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const RecordError& error) {
    const std::string where = fmt::format("client {}, round {}: ", client, t + 1);
    throw RecordError(where + error.what(), where + error.shown());
  }
}

}  // namespace starling
