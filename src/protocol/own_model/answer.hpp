/// What an own model writes in one call. Internal to the protocol module.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>

#include "core/check.hpp"
#include "core/columns.hpp"
#include "core/numerics/kept_arithmetic.hpp"
#include "core/record_error.hpp"
#include "protocol/own_model/own_model.hpp"

namespace starling {

inline constexpr std::size_t fence = 8;                          ///< numbers of a fence
inline constexpr std::uint64_t fence_bits = 0x7ff85ca1ab1e0000;  ///< bits of each: a NaN that arithmetic does not give

/// Throws FailureError unless the last numbers of a buffer are a fence. `what` names the content of the buffer.
inline void require_fence(const Vector& numbers, const char* what) {
  const bool whole = std::all_of(numbers.end() - fence, numbers.end(),
                                 [](double x) { return std::bit_cast<std::uint64_t>(x) == fence_bits; });
  check<FailureError>(whole,
                      "--model: the own model has written beyond the end of the {} that it was asked for: memory may "
                      "be damaged. Look how many it writes.",
                      what);
}

/// Makes room for `size` numbers and a fence. All are NaN: what an own model does not write is out of range, and is
/// nothing that another record has left.
inline MutableView fenced(Vector& numbers, std::size_t size) {
  numbers.assign(size + fence, std::bit_cast<double>(fence_bits));
  return MutableView(numbers).first(size);
}

/// The text of an error without the option that it begins with.
inline std::string without_option(const std::string& text) {
  const std::string option = "--model: ";
  return text.starts_with(option) ? text.substr(option.size()) : text;
}

/// Runs f(), which calls an own model. Returns why it failed, which may tell of records; none if it did not.
template <class F>
std::optional<std::string> failure_of(F f) {
  const KeptArithmetic kept;
  try {
    f();
    return std::nullopt;
  } catch (const RecordError& error) {
    return without_option(error.shown());
  } catch (const std::exception& error) {
    return without_option(error.what());
  } catch (...) {
    return "what it has thrown is no exception";
  }
}

/// Losses, gradients and predictions of records, in room of their own.
class Answer {
 public:
  /// Asks for losses and gradients, and for predictions where `predictions` says so. Throws what the own model throws,
  /// and FailureError if it writes beyond the end.
  void ask(OwnModel& own, View point, const RecordTable& records, bool predictions) {
    const MutableView losses = fenced(losses_, records.rows);
    const std::size_t numbers = records.rows * point.size();
    const MutableView rows = own.keeps_rows() ? MutableView() : fenced(rows_, numbers);
    const MutableView predicted = predictions ? fenced(predictions_, records.rows) : MutableView();
    const bool all = own.gradients(point, records, losses, rows, predicted);
    if (predictions && !all) own.predict(point, records, predicted);
    require_fence(losses_, "losses");
    if (!own.keeps_rows()) require_fence(rows_, "gradients");
    if (predictions) require_fence(predictions_, "predictions");
    found_ = own.keeps_rows() ? own.kept_rows().first(numbers) : View(rows);
  }

  [[nodiscard]] View losses() const { return View(losses_).first(losses_.size() - fence); }
  /// Of the last call that asked for them.
  [[nodiscard]] View predictions() const { return View(predictions_).first(predictions_.size() - fence); }
  /// The gradients, row after row, until the own model is asked again.
  [[nodiscard]] View rows() const { return found_; }

 private:
  Vector losses_;
  Vector rows_;
  Vector predictions_;
  View found_;
};

}  // namespace starling
