#include "privacy/shares/ring.hpp"

#include "core/sized.hpp"

namespace starling {

namespace {

template <class W>
void add_all(std::span<const W> from, std::span<W> to) {
  const W* const source = from.data();
  W* const target = to.data();
  for (std::size_t i = 0; i < to.size(); ++i) target[i] += source[i];
}

template <class W>
void subtract_all(std::span<const W> from, std::span<W> to) {
  const W* const source = from.data();
  W* const target = to.data();
  for (std::size_t i = 0; i < to.size(); ++i) target[i] -= source[i];
}

}  // namespace

void add_words(std::span<const Word> from, std::span<Word> to) {
  add_all(from, to);
}
void add_words(std::span<const WideWord> from, std::span<WideWord> to) {
  add_all(from, to);
}
void subtract_words(std::span<const Word> from, std::span<Word> to) {
  subtract_all(from, to);
}
void subtract_words(std::span<const WideWord> from, std::span<WideWord> to) {
  subtract_all(from, to);
}

void add_transposed_product(std::span<const Word> matrix, std::span<const Word> v, std::span<Word> product) {
  sized(product.size(), [&, to = product.data()](auto columns) {
    const Word* row = matrix.data();
    for (const Word factor : v) {
      for (std::size_t j = 0; j < columns; ++j) to[j] += factor * row[j];
      row += columns;
    }
  });
}

std::vector<Word> halves_of(std::span<const WideWord> wide) {
  std::vector<Word> halves;
  halves.reserve(2 * wide.size());
  for (const WideWord word : wide) {
    halves.push_back(static_cast<Word>(word));
    halves.push_back(static_cast<Word>(word >> 64));
  }
  return halves;
}

std::vector<WideWord> from_halves(std::span<const Word> halves) {
  std::vector<WideWord> wide(halves.size() / 2);
  for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = halves[2 * i] | WideWord{halves[2 * i + 1]} << 64;
  return wide;
}

}  // namespace starling
