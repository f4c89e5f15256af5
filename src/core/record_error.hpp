/// Errors about the content of records. Only the owner of the data may see the values.
#pragma once

#include <string>
#include <utility>

#include "core/check.hpp"

namespace starling {

/// A fault in the content of one record. what() names the place and the fault, without any value: others may read the
/// message. `shown` is the message with the value, for the owner of the data alone.
class RecordError : public DataError {
 public:
  explicit RecordError(const std::string& message) : RecordError(message, message) {}
  RecordError(const std::string& message, const std::string& shown) : DataError(message), shown_(one_line(shown)) {}
  [[nodiscard]] const std::string& shown() const noexcept { return shown_; }

 private:
  std::string shown_;
};

/// Runs f(), with errors about records that show the values. For public files, and for the terminal of the data's
/// owner.
template <class F>
decltype(auto) showing_values(F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const RecordError& error) {
    throw DataError(error.shown());
  }
}

}  // namespace starling
