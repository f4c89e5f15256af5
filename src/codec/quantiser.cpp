#include "codec/quantiser.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "codec/bits.hpp"
#include "core/check.hpp"

namespace starling {

namespace {

/// An IEEE binary16 number: a sign, 5 bits of exponent, 10 bits of fraction.
struct Half {
  std::uint16_t pattern = 0;
};

/// The nearest binary16 number, ties to even; infinite from 65,520 on. `x` is not NaN.
inline Half half_of(double x) {
  constexpr unsigned infinite = 0x7c00;
  const unsigned sign = std::signbit(x) ? 0x8000 : 0;
  const double size = std::abs(x);
  if (size >= 65520) return {static_cast<std::uint16_t>(sign | infinite)};
  // Numbers below 2^-14 have the unit of those above. The bit that a fraction leaves out, and what rounding carries
  // over, add to the exponent.
  const int exponent = std::max(std::ilogb(size), -14);
  const auto units = static_cast<unsigned>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  return {static_cast<std::uint16_t>(sign | ((static_cast<unsigned>(exponent + 14) << 10U) + units))};
}

inline double number_of(Half half) {
  const int exponent = half.pattern >> 10U & 0x1f;
  const int fraction = half.pattern & 0x3ff;
  double size = std::numeric_limits<double>::infinity();
  if (exponent == 0x1f && fraction != 0) size = std::numeric_limits<double>::quiet_NaN();
  if (exponent < 0x1f) size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(0x400 + fraction, exponent - 25);
  return (half.pattern & 0x8000U) != 0 ? -size : size;
}

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

/// Lowest bytes first as the processor has them.
template <class Word>
void put_word(Word word, MutableBytes message, std::size_t at) {
  std::memcpy(message.data() + at, &word, sizeof word);
}
template <class Word>
Word get_word(Bytes message, std::size_t at) {
  Word word{};
  std::memcpy(&word, message.data() + at, sizeof word);
  return word;
}

Half narrow(double x, Half) {
  return half_of(x);
}
template <class Word>
Word narrow(double x, Word) {
  return static_cast<Word>(x);
}
double widen(Half x) {
  return number_of(x);
}
double widen(double x) {
  return x;
}

/// Numbers as Half, float or double.
template <class Word>
class Floats final : public Quantiser {
 public:
  [[nodiscard]] std::size_t bits(std::size_t numbers) const override { return 8 * sizeof(Word) * numbers; }
  [[nodiscard]] long long most_bits() const override { return 0; }
  [[nodiscard]] std::unique_ptr<Quantiser> with_bits(long long bits) const override {
    fail<UsageError>(
        "{} bits for a quantiser of {}: a floating-point number has always as many. Choose bits, scalar or hexagonal.",
        bits, 8 * sizeof(Word));
  }

 protected:
  void put(View numbers, MutableBytes message) const override {
    for (std::size_t i = 0; i < numbers.size(); ++i) put_word(narrow(numbers[i], Word{}), message, i * sizeof(Word));
  }
  void get(Bytes message, MutableView numbers) const override {
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = widen(get_word<Word>(message, i * sizeof(Word)));
  }
};

/// Range of all numbers of a message. Both ends are floats.
struct Range {
  double low = 0;
  double high = 0;
  [[nodiscard]] bool is_point() const { return low == high; }
  /// Position of a number in units of 1/count of the range, from its lower end.
  [[nodiscard]] double place(double x, double count) const { return (x - low) * (count / (high - low)); }
  [[nodiscard]] double at(double place, double count) const {
    return is_point() ? low : std::clamp(low + place * ((high - low) / count), low, high);
  }
};

constexpr std::size_t range_bytes = 2 * sizeof(float);

/// The nearest float, or the next float in the direction of `outwards` if the nearest is not as far.
double float_beyond(double x, float outwards) {
  const auto nearest = static_cast<float>(x);
  const bool inside = outwards < 0 ? nearest > x : nearest < x;
  return inside ? std::nextafter(nearest, outwards) : nearest;
}

Range range_of(View numbers) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto [least, most] = std::ranges::minmax_element(numbers);
  const bool equal = *least == *most;
  const Range range = equal ? Range{static_cast<float>(numbers[0]), static_cast<float>(numbers[0])}
                            : Range{float_beyond(*least, -infinity), float_beyond(*most, infinity)};
  const bool too_low = std::isinf(range.low);
  check<DataError>(!too_low && !std::isinf(range.high),
                   "number {} of a message is too large: its range is sent as floats, and it is beyond 3.4e38. See "
                   "what makes it grow.",
                   (too_low ? least : most) - numbers.begin());
  return range;
}

void put_range(Range range, MutableBytes message) {
  put_word(static_cast<float>(range.low), message, 0);
  put_word(static_cast<float>(range.high), message, sizeof(float));
}

Range get_range(Bytes message) {
  const Range range{get_word<float>(message, 0), get_word<float>(message, sizeof(float))};
  check<DataError>(
      std::isfinite(range.low) && std::isfinite(range.high) && range.low <= range.high,
      "a message with numbers from {} to {}: the ends of a range are finite and in order, so it is damaged.", range.low,
      range.high);
  return range;
}

unsigned checked_bits(long long bits, long long most, const char* name) {
  check(bits != 0, "{}: bits=0: one level is left, and says nothing. Take 1 to {}.", name, most);
  check(bits >= 1 && bits <= most, "{}: bits={}: a number takes 1 to {}.", name, bits, most);
  return static_cast<unsigned>(bits);
}

/// Base of quantisers that send a range, and b bits for each number.
class Ranged : public Quantiser {
 public:
  [[nodiscard]] std::size_t bits(std::size_t numbers) const override {
    return numbers == 0 ? 0 : 8 * range_bytes + bits_ * numbers;
  }

 protected:
  explicit Ranged(unsigned bits) : bits_(bits), count_(static_cast<double>(std::uint64_t{1} << bits)) {}

  [[nodiscard]] unsigned bits_per_number() const { return bits_; }
  [[nodiscard]] double count() const { return count_; }  ///< 2^b

  /// Index of the cell of x among the 2^b cells of the range.
  [[nodiscard]] std::uint64_t cell_of(double x, Range range) const {
    if (range.is_point()) return 0;
    return static_cast<std::uint64_t>(std::clamp(std::floor(range.place(x, count_)), 0.0, count_ - 1));
  }
  [[nodiscard]] double middle(std::uint64_t cell, Range range) const {
    return range.at(static_cast<double>(cell) + 0.5, count_);
  }

 private:
  unsigned bits_;
  double count_;
};

enum class Levels { midpoint, endpoint };

class Scalar final : public Ranged {
 public:
  Scalar(long long bits, Levels levels)
      : Ranged(checked_bits(bits, most, levels == Levels::midpoint ? "scalar" : "bits")), levels_(levels) {}
  [[nodiscard]] long long most_bits() const override { return most; }
  [[nodiscard]] std::unique_ptr<Quantiser> with_bits(long long bits) const override {
    return std::make_unique<Scalar>(bits, levels_);
  }

 protected:
  void put(View numbers, MutableBytes message) const override {
    const Range range = range_of(numbers);
    put_range(range, message);
    BitWriter writer(message.subspan(range_bytes));
    for (const double x : numbers) {
      writer.put(levels_ == Levels::midpoint ? cell_of(x, range) : end_of(x, range), bits_per_number());
    }
    writer.finish();
  }
  void get(Bytes message, MutableView numbers) const override {
    const Range range = get_range(message);
    BitReader reader(message.subspan(range_bytes));
    for (double& x : numbers) {
      const std::uint64_t code = reader.get(bits_per_number());
      x = levels_ == Levels::midpoint ? middle(code, range) : end(code, range);
    }
  }

 private:
  static constexpr long long most = 16;

  /// Index of the level nearest to x among 2^b levels. The first and the last level are the ends of the range.
  [[nodiscard]] std::uint64_t end_of(double x, Range range) const {
    if (range.is_point()) return 0;
    return static_cast<std::uint64_t>(std::clamp(std::nearbyint(range.place(x, count() - 1)), 0.0, count() - 1));
  }
  [[nodiscard]] double end(std::uint64_t level, Range range) const {
    const auto place = static_cast<double>(level);
    return place == count() - 1 ? range.high : range.at(place, count() - 1);
  }

  Levels levels_;
};

/// Rows of points of a square, in units of their distance within a row: row r has its points at height r + 1/2, from
/// 1/4 on if r is even, from 3/4 on if it is odd. A point's code is row · 2^b + its place in the row.
class Hexagonal final : public Ranged {
 public:
  explicit Hexagonal(long long bits) : Ranged(checked_bits(bits, most, "hexagonal")) {}
  [[nodiscard]] long long most_bits() const override { return most; }
  [[nodiscard]] std::unique_ptr<Quantiser> with_bits(long long bits) const override {
    return std::make_unique<Hexagonal>(bits);
  }

 protected:
  void put(View numbers, MutableBytes message) const override {
    const Range range = range_of(numbers);
    put_range(range, message);
    BitWriter writer(message.subspan(range_bytes));
    std::size_t i = 0;
    for (; i + 1 < numbers.size(); i += 2) {
      const std::uint64_t code =
          range.is_point() ? 0 : nearest(range.place(numbers[i], count()), range.place(numbers[i + 1], count()));
      writer.put(code, 2 * bits_per_number());
    }
    if (i < numbers.size()) writer.put(cell_of(numbers[i], range), bits_per_number());
    writer.finish();
  }
  void get(Bytes message, MutableView numbers) const override {
    const Range range = get_range(message);
    BitReader reader(message.subspan(range_bytes));
    std::size_t i = 0;
    for (; i + 1 < numbers.size(); i += 2) {
      const std::uint64_t column = reader.get(bits_per_number());
      const std::uint64_t row = reader.get(bits_per_number());
      numbers[i] = range.at(static_cast<double>(column) + begin_of_row(row), count());
      numbers[i + 1] = range.at(static_cast<double>(row) + 0.5, count());
    }
    if (i < numbers.size()) numbers[i] = middle(reader.get(bits_per_number()), range);
  }

 private:
  static constexpr long long most = 12;

  struct Point {
    std::uint64_t code;
    double squared_distance;
  };

  [[nodiscard]] static double begin_of_row(std::uint64_t row) { return row % 2 == 0 ? 0.25 : 0.75; }

  [[nodiscard]] Point nearest_in_row(std::uint64_t row, double x, double y) const {
    const double column = std::clamp(std::nearbyint(x - begin_of_row(row)), 0.0, count() - 1);
    const double across = x - begin_of_row(row) - column;
    const double up = y - 0.5 - static_cast<double>(row);
    return {row << bits_per_number() | static_cast<std::uint64_t>(column), across * across + up * up};
  }

  /// It is in the row below or above: those behind them have their points at the same places across.
  [[nodiscard]] std::uint64_t nearest(double x, double y) const {
    const auto row = static_cast<std::uint64_t>(std::clamp(std::floor(y - 0.5), 0.0, count() - 2));
    const Point below = nearest_in_row(row, x, y);
    const Point above = nearest_in_row(row + 1, x, y);
    return above.squared_distance < below.squared_distance ? above.code : below.code;
  }
};

template <class Word>
std::unique_ptr<Quantiser> make_floats(const Spec&) {
  return std::make_unique<Floats<Word>>();
}

template <Levels levels>
std::unique_ptr<Quantiser> make_scalar(const Spec& spec) {
  return std::make_unique<Scalar>(spec.integer("bits"), levels);
}

}  // namespace

void Quantiser::encode(View numbers, std::span<std::byte> message) const {
  check<FailureError>(message.size() == bytes(numbers.size()),
                      "{} numbers in a message of {} bytes: they take {}. This is a fault of the program.",
                      numbers.size(), message.size(), bytes(numbers.size()));
  const auto wrong = std::ranges::find_if(numbers, [](double x) { return !std::isfinite(x); });
  check<DataError>(wrong == numbers.end(),
                   "number {} of a message is no number or infinite: not finite: it would spoil whatever is computed "
                   "from it. See what makes it grow.",
                   wrong - numbers.begin());
  if (!numbers.empty()) put(numbers, message);
}

void Quantiser::decode(std::span<const std::byte> message, MutableView numbers) const {
  check<FailureError>(message.size() == bytes(numbers.size()),
                      "a message of {} bytes for {} numbers: they take {}. This is a fault of the program.",
                      message.size(), numbers.size(), bytes(numbers.size()));
  if (!numbers.empty()) get(message, numbers);
}

const Table<Quantiser>& quantiser_table() {
  static const Table<Quantiser> table("quantiser",
                                      {{"float32", "32-bit floats", {}, make_floats<float>},
                                       {"float16", "16-bit floats, at most 65,504", {}, make_floats<Half>},
                                       {"double", "doubles, as they are", {}, make_floats<double>},
                                       {"bits",
                                        "2^bits levels over the range of a message, both ends among them",
                                        {{"bits", "per number, 1 to 16"}},
                                        make_scalar<Levels::endpoint>},
                                       {"scalar",
                                        "2^bits levels over the range of a message, each the middle of a cell",
                                        {{"bits", "per number, 1 to 16"}},
                                        make_scalar<Levels::midpoint>},
                                       {"hexagonal",
                                        "pairs of numbers as points of a hexagonal lattice",
                                        {{"bits", "per number, 1 to 12"}},
                                        [](const Spec& spec) -> std::unique_ptr<Quantiser> {
                                          return std::make_unique<Hexagonal>(spec.integer("bits"));
                                        }}});
  return table;
}

}  // namespace starling
