#include "privacy/shares/shared_rows.hpp"

#include <cmath>

#include "core/check.hpp"

namespace starling {

namespace {

/// What rounding may add to a norm that is computed in doubles, relatively: far more than it does.
constexpr double clipping_margin = 0x1p-40;

/// L2 norm of a row with one more number, whose square is given.
double norm_with(double squares, View row) {
  for (const double x : row) squares += x * x;
  return std::sqrt(squares);
}

}  // namespace

std::int64_t integer_bound(double bound, int fraction_bits) {
  return static_cast<std::int64_t>(std::floor(std::ldexp(bound, fraction_bits)));
}

SharedRows shared_rows(View rows, std::size_t columns, bool has_one, double bound, int fraction_bits,
                       std::span<const std::size_t> records_of_person) {
  const auto limit = static_cast<WideWord>(integer_bound(bound, fraction_bits));
  SharedRows result;
  result.words.resize(rows.size());
  result.numbers.assign(rows.size(), 0);
  for (std::size_t start = 0; start < rows.size(); start += columns) {
    const View row = rows.subspan(start, columns);
    const std::size_t records = records_of_person.empty() ? 1 : records_of_person[start / columns];
    if (records == 0) continue;
    const double norm = norm_with(has_one ? 0 : 1, row);
    const double most = static_cast<double>(integer_bound(bound, fraction_bits)) * (1 - clipping_margin);
    const double units = std::ldexp(1.0, fraction_bits);
    const bool fits = norm * units <= most;
    if (!fits) ++result.clipped;
    const double factor = fits ? units : std::isfinite(norm) ? most / norm : 0;
    WideWord squares = 0;
    for (std::size_t j = 0; j < columns; ++j) {
      const double scaled = factor == 0 ? 0 : std::trunc(row[j] * factor);
      const auto integer = static_cast<std::int64_t>(scaled) / static_cast<std::int64_t>(records);
      result.words[start + j] = static_cast<Word>(integer);
      result.numbers[start + j] = scaled / units;
      const auto size = static_cast<WideWord>(integer < 0 ? -integer : integer);
      squares += size * size;
    }
    squares *= static_cast<WideWord>(records) * records;
    check<FailureError>(squares <= limit * limit, "a row of shares is longer than its bound after clipping.");
  }
  return result;
}

}  // namespace starling
