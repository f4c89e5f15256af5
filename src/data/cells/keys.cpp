#include "keys.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "number.hpp"

namespace starling {

namespace {

/// A whole number as its sign and its digits without leading zeros.
struct WholeKey {
  bool negative = false;
  std::string_view digits;
};

std::optional<WholeKey> whole_key(std::string_view key) {
  WholeKey whole{key.starts_with('-'), key};
  if (whole.negative) whole.digits.remove_prefix(1);
  if (whole.digits.empty() || whole.digits.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  whole.digits.remove_prefix(std::min(whole.digits.find_first_not_of('0'), whole.digits.size()));
  return whole;
}

bool is_shorter_or_less(std::string_view digits, std::string_view others) {
  return digits.size() != others.size() ? digits.size() < others.size() : digits < others;
}

}  // namespace

std::optional<std::string_view> key_of_text(std::string_view text) {
  const auto is_number = [&] { return read_number(text).fault == NumberFault::none; };
  const std::size_t exponent = text.find_first_of("eE");
  if (exponent != std::string_view::npos && text.substr(exponent + 1).starts_with('+') && is_number())
    return std::nullopt;
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos || point + 1 == text.size()) return text;
  if (text.find_first_not_of('0', point + 1) != std::string_view::npos) return text;
  const std::string_view whole = text.substr(0, point);
  if (!whole_key(whole)) return text;
  if (!key_of_number(read_number(whole).value, std::numeric_limits<double>::digits)) return std::nullopt;
  return whole == "-0" ? "0" : whole;
}

std::optional<std::string> key_of_number(double value, int digits) {
  if (std::isnan(value)) return "";
  if (!(std::abs(value) < std::ldexp(1, digits))) return std::nullopt;
  if (value == std::trunc(value)) return fmt::format("{}", static_cast<long long>(value));
  constexpr int digits_of_float = 24;
  return digits > digits_of_float ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
}

bool is_missing_key(std::string_view key) {
  constexpr std::array<std::string_view, 12> marks{"#N/A", "#N/A N/A", "#NA",     "-1.#IND", "-1.#QNAN", "1.#IND",
                                                   "<NA>", "None",     "1.#QNAN", "n/a",     "NaT",      "-NaN"};
  return is_missing_feature(key) || std::ranges::find(marks, key) != marks.end();
}

bool precedes_as_number(std::string_view key, std::string_view other) {
  const double value = read_number(key).value;
  const double other_value = read_number(other).value;
  if (value != other_value) return value < other_value;
  const auto a = whole_key(key);
  const auto b = whole_key(other);
  if (!a || !b || a->digits == b->digits) return a.has_value() != b.has_value() ? a.has_value() : key < other;
  return value < 0 ? is_shorter_or_less(b->digits, a->digits) : is_shorter_or_less(a->digits, b->digits);
}

}  // namespace starling
