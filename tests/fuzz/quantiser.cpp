// Quantised messages as bytes. The first byte of an input chooses the quantiser, the second how many numbers; the
// others are the message, and doubles that are sent and come back.
#include "codec/quantiser.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "target.hpp"

namespace {

using namespace starling;

constexpr std::array quantisers{"float32",   "float16", "double",      "scalar:1",    "scalar:3",    "scalar:8",
                                "scalar:16", "bits:5",  "hexagonal:1", "hexagonal:3", "hexagonal:8", "hexagonal:12"};

/// Bytes in memory of their own, whose ends the sanitizers watch.
std::vector<std::byte> copied(std::string_view bytes) {
  const auto all = std::as_bytes(std::span(bytes));
  return {all.begin(), all.end()};
}

struct Ends {
  float low = 0;
  float high = 0;
};

void require_in_range(const Quantiser& quantiser, const std::vector<std::byte>& message, const Vector& numbers) {
  if (!quantiser.chooses_bits() || numbers.empty()) return;
  Ends ends;
  std::memcpy(&ends, message.data(), sizeof ends);
  for (const double x : numbers) fuzz::require(x >= ends.low && x <= ends.high, "a number that is out of its range");
}

void decode(const Quantiser& quantiser, std::string_view bytes, std::size_t count) {
  const std::vector<std::byte> message = copied(bytes);
  Vector numbers(count);
  quantiser.decode(message, numbers);
  require_in_range(quantiser, message, numbers);
}

/// Any doubles, and what comes back of them.
void send(const Quantiser& quantiser, std::string_view bytes) {
  Vector numbers(bytes.size() / sizeof(double));
  std::copy_n(std::as_bytes(std::span(bytes)).begin(), numbers.size() * sizeof(double),
              std::as_writable_bytes(std::span(numbers)).begin());
  std::vector<std::byte> message(quantiser.bytes(numbers.size()));
  quantiser.encode(numbers, message);
  const std::vector<std::byte> first = message;
  quantiser.encode(numbers, message);
  fuzz::require(message == first, "other bytes for the same numbers");
  Vector came(numbers.size());
  quantiser.decode(message, came);
  require_in_range(quantiser, message, came);
  for (std::size_t i = 0; i < came.size(); ++i) fuzz::require(!std::isnan(came[i]), "a number has become none");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto quantiser = quantiser_table().make(quantisers[fuzz::choose(bytes, quantisers.size())]);
  const std::size_t count = fuzz::choose(bytes, 256);
  fuzz::answers([&] { decode(*quantiser, bytes, count); });
  const std::size_t whole = quantiser->bytes(count);
  if (bytes.size() > whole) fuzz::answers([&] { decode(*quantiser, bytes.substr(0, whole), count); });
  fuzz::answers([&] { send(*quantiser, bytes); });
  return 0;
}
