#include "codec/codec.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "codec/quantiser.hpp"
#include "core/check.hpp"

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

/// Codec of messages some of whose numbers travel as doubles: the first `before` and the last `after`. Another codec
/// writes the numbers between them.
class FramedCodec final : public Codec {
 public:
  FramedCodec(std::size_t before, std::size_t after, std::unique_ptr<Codec> between)
      : before_(before), after_(after), between_(std::move(between)) {}

  [[nodiscard]] std::size_t bytes(std::size_t numbers) const override {
    return (before_ + after_) * sizeof(double) + between_->bytes(count_between(numbers));
  }
  void encode(View numbers, MutableBytes message) const override {
    const std::size_t between = count_between(numbers.size());
    plain.encode(numbers.first(before_), message);
    plain.encode(numbers.last(after_), message.subspan(before_ * sizeof(double)));
    between_->encode(numbers.subspan(before_, between), message.subspan((before_ + after_) * sizeof(double)));
  }
  void decode(Bytes message, MutableView numbers) const override {
    const std::size_t between = count_between(numbers.size());
    const std::size_t exact = (before_ + after_) * sizeof(double);
    plain.decode(message.first(before_ * sizeof(double)), numbers.first(before_));
    plain.decode(message.first(exact).last(after_ * sizeof(double)), numbers.last(after_));
    between_->decode(message.subspan(exact), numbers.subspan(before_, between));
  }

 private:
  [[nodiscard]] std::size_t count_between(std::size_t numbers) const {
    check<FailureError>(numbers >= before_ + after_,
                        "a message of {} numbers for a codec of {} and more. This is a fault of the program.", numbers,
                        before_ + after_);
    return numbers - before_ - after_;
  }

  std::size_t before_;
  std::size_t after_;
  std::unique_ptr<Codec> between_;
};

/// Codec of packed upper triangles of positive semi-definite matrices H: the diagonal as floats, and a quantiser writes
/// the correlations H_ij / √(H_ii H_jj).
class CorrelationCodec final : public Codec {
 public:
  CorrelationCodec(std::size_t order, std::unique_ptr<Quantiser> quantiser)
      : order_(order), diagonal_(quantiser_table().make("float32")), quantiser_(std::move(quantiser)) {}

  [[nodiscard]] std::size_t bytes(std::size_t numbers) const override { return triangles(numbers) * triangle_bytes(); }
  void encode(View numbers, MutableBytes message) const override {
    for (std::size_t k = 0; k < triangles(numbers.size()); ++k) {
      encode_triangle(numbers.subspan(k * triangle(), triangle()),
                      message.subspan(k * triangle_bytes(), triangle_bytes()));
    }
  }
  void decode(Bytes message, MutableView numbers) const override {
    for (std::size_t k = 0; k < triangles(numbers.size()); ++k) {
      decode_triangle(message.subspan(k * triangle_bytes(), triangle_bytes()),
                      numbers.subspan(k * triangle(), triangle()));
    }
  }

 private:
  [[nodiscard]] std::size_t triangle() const { return order_ * (order_ + 1) / 2; }
  [[nodiscard]] std::size_t triangle_bytes() const {
    return diagonal_->bytes(order_) + quantiser_->bytes(triangle() - order_);
  }
  [[nodiscard]] std::size_t triangles(std::size_t numbers) const {
    check<FailureError>(order_ == 0 || numbers % triangle() == 0,
                        "a message with {} numbers in triangles of order {}: these must be whole. This is a fault of "
                        "the program.",
                        numbers, order_);
    return order_ == 0 ? 0 : numbers / triangle();
  }
  /// Index in the packed triangle.
  [[nodiscard]] std::size_t begin_of_row(std::size_t i) const { return i * order_ - i * (i + 1) / 2 + i; }

  void encode_triangle(View h, MutableBytes message) const {
    Vector diagonal(order_);
    for (std::size_t i = 0; i < order_; ++i) diagonal[i] = h[begin_of_row(i)];
    const MutableBytes first = message.first(diagonal_->bytes(order_));
    diagonal_->encode(diagonal, first);
    Vector rounded(order_);
    diagonal_->decode(first, rounded);
    Vector correlations;
    correlations.reserve(triangle() - order_);
    for (std::size_t i = 0; i < order_; ++i) {
      const View row = h.subspan(begin_of_row(i), order_ - i);
      for (std::size_t j = i; j < order_; ++j) {
        check_entry(row[j - i], diagonal[i], diagonal[j], i, j);
        const double scale = std::sqrt(rounded[i] * rounded[j]);
        if (j > i) correlations.push_back(scale > 0 ? std::clamp(row[j - i] / scale, -1.0, 1.0) : 0);
      }
    }
    quantiser_->encode(correlations, message.subspan(first.size()));
  }

  void decode_triangle(Bytes message, MutableView h) const {
    Vector diagonal(order_);
    diagonal_->decode(message.first(diagonal_->bytes(order_)), diagonal);
    Vector correlations(triangle() - order_);
    quantiser_->decode(message.subspan(diagonal_->bytes(order_)), correlations);
    auto correlation = correlations.begin();
    for (std::size_t i = 0; i < order_; ++i) {
      const MutableView row = h.subspan(begin_of_row(i), order_ - i);
      row[0] = diagonal[i];
      for (std::size_t j = i + 1; j < order_; ++j) row[j - i] = *correlation++ * std::sqrt(diagonal[i] * diagonal[j]);
    }
  }

  static void check_entry(double entry, double first, double second, std::size_t i, std::size_t j) {
    constexpr double rounding = 1 + 1e-6;
    constexpr double tiny = 1e-100;  // squares of the features behind it may underflow
    const bool too_large = std::abs(entry) > rounding * (std::sqrt(first) * std::sqrt(second));
    const bool wrong = first < 0 || second < 0 || (too_large && std::abs(entry) > tiny);
    // The entries may be private: the message shows only their positions.
    check<DataError>(
        !wrong,
        "curvature: entry ({}, {}) is too large for its diagonal entries, or one of these is negative: quantised "
        "curvature must be positive semi-definite; noise may have spoilt it. Send it as double or float32.",
        i, j);
  }

  std::size_t order_;
  std::unique_ptr<Quantiser> diagonal_;
  std::unique_ptr<Quantiser> quantiser_;
};

}  // namespace

const Codec& plain_codec() {
  return plain;
}

std::unique_ptr<Codec> make_model_codec(std::string_view how) {
  if (how == "double") return std::make_unique<PlainCodec>();
  return std::make_unique<FramedCodec>(0, 1, quantiser_table().make(how));
}

std::unique_ptr<Codec> make_curvature_codec(std::string_view how, std::size_t before, std::size_t order) {
  if (how == "double") return std::make_unique<PlainCodec>();
  std::unique_ptr<Quantiser> quantiser = quantiser_table().make(how);
  if (!quantiser->chooses_bits()) return std::make_unique<FramedCodec>(before, 0, std::move(quantiser));
  return std::make_unique<FramedCodec>(before, 0, std::make_unique<CorrelationCodec>(order, std::move(quantiser)));
}

}  // namespace starling
