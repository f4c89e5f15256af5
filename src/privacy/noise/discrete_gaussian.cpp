#include "discrete_gaussian.hpp"

#include <cmath>

#include "core/memory/wipe.hpp"
#include "enclosure.hpp"

namespace starling {

namespace {

constexpr mpfr_prec_t initial_precision = 256;

/// (2 k + shift)/(σ √8) = (k + shift/2)/(σ √2), with 2 k + shift >= 0.
void standardised(Enclosure& result, std::int64_t k, int shift, double sigma, mpfr_prec_t precision) {
  Enclosure divisor(precision);
  Enclosure scale(precision);
  divisor.set(8L);
  divisor.square_root();
  scale.set(sigma);
  divisor.multiply(scale);
  result.set(static_cast<long>(2 * k + shift));
  result.divide(divisor);
}

/// Encloses 1 − A(k) for k >= 1: A(k) = 2 erf(½ c) / (exp(k²/(2σ²)) (erfc((k − ½) c) − erfc((k + ½) c))), c = 1/(σ √2).
void rejection(Enclosure& result, std::int64_t k, double sigma, mpfr_prec_t precision) {
  Enclosure kept(precision);
  Enclosure other(precision);
  Enclosure mass(precision);
  standardised(kept, 0, 1, sigma, precision);
  kept.error_function();
  other.set(2L);
  kept.multiply(other);

  standardised(mass, k, -1, sigma, precision);
  mass.complementary_error_function();
  standardised(other, k, 1, sigma, precision);
  other.complementary_error_function();
  mass.subtract(other);
  kept.divide(mass);

  standardised(mass, k, 0, sigma, precision);
  standardised(other, k, 0, sigma, precision);
  other.multiply(mass);
  other.exponential();
  kept.divide(other);
  result.set(1L);
  result.subtract(kept);
}

}  // namespace

bool DiscreteGaussian::keeps(std::int64_t proposal, std::uint64_t word, const MoreWords& more) const {
  if (proposal == 0) return true;
  // (*) times 2^64; the last factor makes up for roundings.
  const double relative = static_cast<double>(proposal) / sigma() / sigma();
  const double most_rejected = relative * relative * 0x1p61 * (1 + 0x1p-40);
  if (static_cast<double>(word) > most_rejected * (1 + 0x1p-40) + 1) return true;
  return keeps_exactly(proposal, word, more);
}

bool DiscreteGaussian::keeps_exactly(std::int64_t proposal, std::uint64_t word, const MoreWords& more) const {
  if (proposal == 0) return true;
  LazyUniform uniform(word, more);
  for (mpfr_prec_t precision = initial_precision;; precision += 64) {
    Enclosure bound(precision);
    rejection(bound, std::abs(proposal), sigma(), precision);
    if (mpfr_greaterequal_p(uniform.lower(), bound.upper()) != 0) return true;
    if (mpfr_lessequal_p(uniform.upper(), bound.lower()) != 0) return false;
    uniform.refine();
  }
}

void DiscreteGaussian::add(Keystream& words, std::span<std::int64_t> integers) {
  draws_.assign(integers.size(), 0);
  words_.resize(integers.size());
  proposals_.add(words, draws_);
  words.words(words_);
  const MoreWords more = [&words] { return words(); };
  for (std::size_t j = 0; j < integers.size(); ++j) {
    std::uint64_t word = words_[j];
    while (!keeps(draws_[j], word, more)) {
      draws_[j] = proposals_(words);
      word = words();
    }
    integers[j] += draws_[j];
  }
  wipe(draws_);
  wipe(words_);
}

}  // namespace starling
