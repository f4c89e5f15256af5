#include "codec/codec.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "bits.hpp"
#include "core/check.hpp"
#include "core/text/table.hpp"

namespace starling {

namespace {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

class PlainCodec : public Codec {
 public:
  [[nodiscard]] std::size_t bytes(std::size_t numbers) const override { return numbers * sizeof(double); }
  void encode(View numbers, MutableBytes message) const override {
    std::ranges::copy(std::as_bytes(numbers), message.begin());
  }
  void decode(Bytes message, MutableView numbers) const override {
    std::ranges::copy(message, std::as_writable_bytes(numbers).begin());
  }
};

constinit const PlainCodec plain;

/// Writes the nearest floats, lowest bytes first, in the processor's order.
void put_floats(View numbers, MutableBytes message) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto rounded = static_cast<float>(numbers[i]);
    std::memcpy(message.data() + i * sizeof rounded, &rounded, sizeof rounded);
  }
}
void get_floats(Bytes message, MutableView numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    float rounded = 0;
    std::memcpy(&rounded, message.data() + i * sizeof rounded, sizeof rounded);
    numbers[i] = rounded;
  }
}

/// Base of codecs that encode one packed upper triangle at a time, after numbers that travel as doubles.
class TriangleCodec : public Codec {
 public:
  TriangleCodec(std::size_t before, std::size_t order) : order_(order), before_(before) {}

  [[nodiscard]] std::size_t bytes(std::size_t numbers) const override {
    return before_ * sizeof(double) + triangles(numbers) * triangle_bytes();
  }
  void encode(View numbers, MutableBytes message) const override {
    const std::size_t count = triangles(numbers.size());
    std::ranges::copy(std::as_bytes(numbers.first(before_)), message.begin());
    for (std::size_t k = 0; k < count; ++k) {
      encode_triangle(numbers.subspan(before_ + k * triangle(), triangle()),
                      message.subspan(before_ * sizeof(double) + k * triangle_bytes(), triangle_bytes()));
    }
  }
  void decode(Bytes message, MutableView numbers) const override {
    const std::size_t count = triangles(numbers.size());
    std::ranges::copy(message.first(before_ * sizeof(double)), std::as_writable_bytes(numbers).begin());
    for (std::size_t k = 0; k < count; ++k) {
      decode_triangle(message.subspan(before_ * sizeof(double) + k * triangle_bytes(), triangle_bytes()),
                      numbers.subspan(before_ + k * triangle(), triangle()));
    }
  }

 protected:
  [[nodiscard]] virtual std::size_t triangle_bytes() const = 0;
  virtual void encode_triangle(View h, MutableBytes message) const = 0;
  virtual void decode_triangle(Bytes message, MutableView h) const = 0;

  [[nodiscard]] std::size_t triangle() const { return order_ * (order_ + 1) / 2; }

  std::size_t order_;

 private:
  [[nodiscard]] std::size_t triangles(std::size_t numbers) const {
    check<FailureError>(numbers >= before_ && (order_ == 0 || (numbers - before_) % triangle() == 0),
                        "a message of {} numbers for a codec of {} numbers and triangles of order {}: these must be "
                        "whole. This is a fault of the program.",
                        numbers, before_, order_);
    return order_ == 0 ? 0 : (numbers - before_) / triangle();
  }

  std::size_t before_;
};

class FloatCodec : public TriangleCodec {
 public:
  using TriangleCodec::TriangleCodec;

 protected:
  [[nodiscard]] std::size_t triangle_bytes() const override { return triangle() * sizeof(float); }
  void encode_triangle(View h, MutableBytes message) const override { put_floats(h, message); }
  void decode_triangle(Bytes message, MutableView h) const override { get_floats(message, h); }
};

/// Codec with the diagonal as floats d, and the other entries as whole multiples of √(d_i d_j)/(2^(b-1) − 1), raised by
/// 2^(b-1). The code 0 stands for NaN.
class QuantisedCodec : public TriangleCodec {
 public:
  QuantisedCodec(std::size_t before, std::size_t order, unsigned bits)
      : TriangleCodec(before, order), bits_(bits), zero_(std::uint64_t{1} << (bits - 1)) {}

 protected:
  [[nodiscard]] std::size_t triangle_bytes() const override {
    return order_ * sizeof(float) + (bits_ * (triangle() - order_) + 7) / 8;
  }

  void encode_triangle(View h, MutableBytes message) const override {
    Vector diagonal(order_);
    for (std::size_t i = 0; i < order_; ++i) diagonal[i] = h[begin_of_row(i)];
    put_floats(diagonal, message);
    Vector rounded(order_);
    get_floats(message, rounded);
    BitWriter writer(message.subspan(order_ * sizeof(float)));
    for (std::size_t i = 0; i < order_; ++i) {
      const View row = h.subspan(begin_of_row(i), order_ - i);
      for (std::size_t j = i; j < order_; ++j) {
        check_entry(row[j - i], diagonal[i], diagonal[j], i, j);
        if (j > i) writer.put(code(row[j - i], std::sqrt(rounded[i] * rounded[j])), bits_);
      }
    }
    writer.finish();
  }

  void decode_triangle(Bytes message, MutableView h) const override {
    Vector diagonal(order_);
    get_floats(message, diagonal);
    BitReader reader(message.subspan(order_ * sizeof(float)));
    for (std::size_t i = 0; i < order_; ++i) {
      const MutableView row = h.subspan(begin_of_row(i), order_ - i);
      row[0] = diagonal[i];
      for (std::size_t j = i + 1; j < order_; ++j) {
        row[j - i] = entry(reader.get(bits_), std::sqrt(diagonal[i] * diagonal[j]));
      }
    }
  }

 private:
  /// Index in the packed triangle.
  [[nodiscard]] std::size_t begin_of_row(std::size_t i) const { return i * order_ - i * (i + 1) / 2 + i; }

  /// 2^(b-1) − 1.
  [[nodiscard]] double levels() const { return static_cast<double>(zero_ - 1); }

  static void check_entry(double entry, double first, double second, std::size_t i, std::size_t j) {
    constexpr double rounding = 1 + 1e-6;
    constexpr double tiny = 1e-100;  // squares of the features behind it may underflow
    // NaN passes this comparison and stays NaN.
    const bool too_large = std::abs(entry) > rounding * (std::sqrt(first) * std::sqrt(second));
    const bool wrong = first < 0 || second < 0 || (too_large && std::abs(entry) > tiny);
    // The entries may be private: the message shows only their positions.
    check<DataError>(
        !wrong,
        "curvature: entry ({}, {}) is too large for its diagonal entries, or one of these is negative: quantised "
        "curvature must be positive semi-definite; noise may have spoilt it. Send it packed or as float32.",
        i, j);
  }

  [[nodiscard]] std::uint64_t code(double entry, double scale) const {
    if (std::isnan(entry)) return 0;
    if (!(scale > 0)) return zero_;
    const double multiple = std::nearbyint(std::clamp(entry / scale, -1.0, 1.0) * levels());
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(zero_) + static_cast<std::int64_t>(multiple));
  }
  [[nodiscard]] double entry(std::uint64_t code, double scale) const {
    if (code == 0 || std::isnan(scale)) return std::nan("");
    const auto multiple = static_cast<double>(static_cast<std::int64_t>(code) - static_cast<std::int64_t>(zero_));
    return multiple == 0 ? 0 : multiple / levels() * scale;
  }

  unsigned bits_;
  std::uint64_t zero_;
};

using CodecTable = Table<Codec, std::size_t, std::size_t>;

const CodecTable& codec_table() {
  static const CodecTable table(
      "way to send curvature",
      {{"packed",
        "the upper triangle as doubles",
        {},
        [](const Spec&, std::size_t, std::size_t) -> std::unique_ptr<Codec> { return std::make_unique<PlainCodec>(); }},
       {"float32",
        "the upper triangle as floats",
        {},
        [](const Spec&, std::size_t before, std::size_t order) -> std::unique_ptr<Codec> {
          return std::make_unique<FloatCodec>(before, order);
        }},
       {"quantised",
        "the diagonal as floats, the entries beside it in few bits",
        {{"bits", "per entry, 2 to 32"}},
        [](const Spec& spec, std::size_t before, std::size_t order) -> std::unique_ptr<Codec> {
          const long long bits = spec.integer("bits");
          check(bits >= 2 && bits <= 32, "{}: bits={}: an entry takes 2 to 32.", spec.text(), bits);
          return std::make_unique<QuantisedCodec>(before, order, static_cast<unsigned>(bits));
        }}});
  return table;
}

}  // namespace

const Codec& plain_codec() {
  return plain;
}

std::unique_ptr<Codec> make_curvature_codec(std::string_view how, std::size_t before, std::size_t order) {
  return codec_table().make(how, std::move(before), std::move(order));
}

}  // namespace starling
