#include "privacy/shares/dealing.hpp"

#include <cstring>
#include <numeric>

#include "core/check.hpp"
#include "core/memory/wipe.hpp"
#include "privacy/keys/keystream.hpp"

namespace starling {

namespace {

/// The kinds of words, each with keystreams of its own.
enum class DealtKind : std::uint32_t { rows, arguments, powers, truncation, high, top, factors, products };

/// The keystream of one kind in one round: the nonce is (round, kind), the counter begins at 0.
Keystream stream_of(const NoiseKey& key, Round t, DealtKind kind) {
  StreamStart start(key);
  const auto round = static_cast<std::uint64_t>(t);
  const auto number = static_cast<std::uint32_t>(kind);
  std::memcpy(start.counter_and_nonce.data() + 4, &round, sizeof round);
  std::memcpy(start.counter_and_nonce.data() + 12, &number, sizeof number);
  return Keystream(start);
}

std::vector<Word> dealt_words(Keystream& stream, std::size_t count) {
  std::vector<Word> words(count);
  stream.words(words);
  return words;
}

std::vector<WideWord> dealt_wide(Keystream& stream, std::size_t count) {
  std::vector<Word> halves(2 * count);
  stream.words(halves);
  std::vector<WideWord> wide = from_halves(halves);
  wipe(halves);
  return wide;
}

/// What is left of `whole` for the last party.
template <class W>
std::vector<W> less(std::vector<W> whole, const std::vector<const std::vector<W>*>& of_others) {
  for (const std::vector<W>* other : of_others) subtract_words(*other, std::span<W>(whole));
  return whole;
}

}  // namespace

void add_products_of_outputs(std::span<const Word> rows, std::span<const Word> factors, std::size_t outputs,
                             std::span<Word> products) {
  const std::size_t records = factors.size() / outputs;
  const std::size_t columns = products.size() / outputs;
  for (std::size_t c = 0; c < outputs; ++c) {
    add_transposed_product(rows, factors.subspan(c * records, records), products.subspan(c * columns, columns));
  }
}

std::size_t SharesShape::all_columns() const {
  return std::accumulate(columns.begin(), columns.end(), std::size_t{0});
}

std::size_t SharesShape::first_component(std::size_t k) const {
  return outputs * std::accumulate(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(k), std::size_t{0});
}

std::size_t SharesShape::correction() const {
  return (2 * static_cast<std::size_t>(degree - 1) + 2) * slopes() + all_components();
}

DealtStream::DealtStream(const NoiseKey& key, SharesShape shape, bool last)
    : key_(key), shape_(std::move(shape)), last_(last) {
  const auto kind = static_cast<std::size_t>(shape_.degree);
  constexpr std::size_t most_words = std::size_t{1} << 34;  // of one keystream
  check(shape_.records * std::max(shape_.all_columns(), 2 * kind * shape_.outputs) < most_words,
        "{} records of {} columns: too many for one run on shares. Take fewer records.", shape_.records,
        shape_.all_columns());
}

std::vector<Word> DealtStream::row_masks(std::size_t columns) const {
  Keystream stream = stream_of(key_, 0, DealtKind::rows);
  return dealt_words(stream, shape_.records * columns);
}

DealtWords DealtStream::round(Round t) const {
  const auto words = [&](DealtKind kind, std::size_t count) {
    Keystream stream = stream_of(key_, t, kind);
    return dealt_words(stream, count);
  };
  const auto wide = [&](DealtKind kind) {
    Keystream stream = stream_of(key_, t, kind);
    return dealt_wide(stream, shape_.slopes());
  };
  DealtWords dealt;
  dealt.arguments = wide(DealtKind::arguments);
  dealt.truncation = wide(DealtKind::truncation);
  dealt.factors = words(DealtKind::factors, shape_.slopes());
  if (last_) return dealt;
  Keystream powers = stream_of(key_, t, DealtKind::powers);
  for (int k = 2; k <= shape_.degree; ++k) dealt.powers.push_back(dealt_wide(powers, shape_.slopes()));
  dealt.high = words(DealtKind::high, shape_.slopes());
  dealt.top = words(DealtKind::top, shape_.slopes());
  dealt.products = words(DealtKind::products, shape_.all_components());
  return dealt;
}

void correct(std::span<const Word> correction, const SharesShape& shape, DealtWords& last) {
  check<FailureError>(correction.size() == shape.correction(), "a correction of {} words: it has {}.",
                      correction.size(), shape.correction());
  const auto take = [&correction](std::size_t count) {
    const std::span<const Word> front = correction.first(count);
    correction = correction.subspan(count);
    return front;
  };
  const auto copied = [](std::span<const Word> words) { return std::vector<Word>(words.begin(), words.end()); };
  for (int k = 2; k <= shape.degree; ++k) last.powers.push_back(from_halves(take(2 * shape.slopes())));
  last.high = copied(take(shape.slopes()));
  last.top = copied(take(shape.slopes()));
  last.products = copied(take(shape.all_components()));
}

Dealer::Dealer(const std::vector<NoiseKey>& keys, SharesShape shape, Truncation truncation)
    : shape_(std::move(shape)), truncation_(truncation) {
  for (std::size_t k = 0; k < keys.size(); ++k) {
    streams_.emplace_back(keys[k], shape_, k + 1 == keys.size());
    row_masks_.push_back(streams_.back().row_masks(shape_.columns[k]));
  }
}

std::vector<Word> Dealer::correction(Round t) const {
  std::vector<DealtWords> dealt;
  dealt.reserve(streams_.size());
  for (const DealtStream& stream : streams_) dealt.push_back(stream.round(t));
  const std::size_t others = dealt.size() - 1;  // all but the last party

  std::vector<WideWord> a(shape_.slopes());
  std::vector<WideWord> r(shape_.slopes());
  std::vector<Word> b(shape_.slopes());
  for (const DealtWords& own : dealt) {
    add_words(own.arguments, a);
    add_words(own.truncation, r);
    add_words(own.factors, b);
  }

  std::vector<Word> correction;
  correction.reserve(shape_.correction());
  const auto append = [&correction](const std::vector<Word>& words) {
    correction.insert(correction.end(), words.begin(), words.end());
  };
  std::vector<WideWord> power = a;
  for (int k = 2; k <= shape_.degree; ++k) {
    for (std::size_t i = 0; i < a.size(); ++i) power[i] *= a[i];
    std::vector<const std::vector<WideWord>*> shares;
    for (std::size_t q = 0; q < others; ++q) shares.push_back(&dealt[q].powers[static_cast<std::size_t>(k - 2)]);
    append(halves_of(less(power, shares)));
  }
  const auto append_less = [&](std::vector<Word> whole, std::vector<Word> DealtWords::*shares_of) {
    std::vector<const std::vector<Word>*> shares;
    for (std::size_t q = 0; q < others; ++q) shares.push_back(&(dealt[q].*shares_of));
    append(less(std::move(whole), shares));
  };
  std::vector<Word> high(r.size());
  std::vector<Word> top(r.size());
  for (std::size_t i = 0; i < r.size(); ++i) {
    high[i] = truncation_.high(r[i]);
    top[i] = Truncation::top(r[i]);
  }
  append_less(std::move(high), &DealtWords::high);
  append_less(std::move(top), &DealtWords::top);
  std::vector<Word> products(shape_.all_components());
  for (std::size_t k = 0; k < streams_.size(); ++k) {
    add_products_of_outputs(row_masks_[k], b, shape_.outputs,
                            std::span<Word>(products).subspan(shape_.first_component(k), shape_.components(k)));
  }
  append_less(std::move(products), &DealtWords::products);
  return correction;
}

}  // namespace starling
