/// Prints src/privacy/noise/laplace_thresholds.inc: the probabilities behind the bits of the discrete Laplace noise of
/// scale 2^40, as binary fractions of 256 digits, cut off. Run it and compare; a test does the same.
#include <array>
#include <cstdint>
#include <cstdio>
#include <mpfr.h>

namespace {

constexpr int digits = 256;
constexpr mpfr_prec_t precision = 512;  // bounds from below and above then agree in far more than 256 digits
constexpr int first_bit = 32;
constexpr int last_bit = 47;

/// A number of `precision` bits.
class Real {
 public:
  Real() { mpfr_init2(value_, precision); }
  ~Real() { mpfr_clear(value_); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  [[nodiscard]] mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

/// exp(2^exponent), rounded as `direction` says.
void exp_of_power(Real& result, long exponent, mpfr_rnd_t direction) {
  mpfr_set_ui_2exp(result.get(), 1, exponent, MPFR_RNDN);  // exact
  mpfr_exp(result.get(), result.get(), direction);
}

/// 1 / (1 + exp(2^(bit − 40))), from below (rounding up throughout the denominator) or from above.
void bit_probability(Real& result, int bit, bool below) {
  exp_of_power(result, bit - 40, below ? MPFR_RNDU : MPFR_RNDD);
  mpfr_add_ui(result.get(), result.get(), 1, below ? MPFR_RNDU : MPFR_RNDD);
  mpfr_ui_div(result.get(), 1, result.get(), below ? MPFR_RNDD : MPFR_RNDU);
}

/// exp(−8), from below or from above.
void tail_probability(Real& result, bool below) {
  exp_of_power(result, 3, below ? MPFR_RNDU : MPFR_RNDD);
  mpfr_ui_div(result.get(), 1, result.get(), below ? MPFR_RNDD : MPFR_RNDU);
}

/// The first 256 binary digits of `value`, which is in (0, 1), as 16-bit words; destroys it.
std::array<std::uint16_t, digits / 16> expand(Real& value) {
  std::array<std::uint16_t, digits / 16> words{};
  for (std::uint16_t& word : words) {
    mpfr_mul_2ui(value.get(), value.get(), 16, MPFR_RNDN);  // exact
    word = static_cast<std::uint16_t>(mpfr_get_ui(value.get(), MPFR_RNDZ));
    mpfr_sub_ui(value.get(), value.get(), word, MPFR_RNDN);  // exact: leading digits go
  }
  return words;
}

/// Prints the digits that the lower and the upper bound share. Returns false if they differ within 256 digits.
bool print_row(const char* name, Real& lower, Real& upper) {
  const auto words = expand(lower);
  if (words != expand(upper)) return false;
  std::printf("    // %s\n    {", name);
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::printf("%s0x%04x", i == 0 ? "" : i == words.size() / 2 ? ",\n     " : ", ", words[i]);
  }
  std::printf("},\n");
  return true;
}

}  // namespace

int main() {
  std::puts(
      "// Made by tools/laplace_thresholds.cpp: probabilities as binary fractions of 256 digits, cut off, in 16-bit");
  std::puts("// words, the first digits first. Do not edit.");
  bool settled = true;
  for (int bit = first_bit; bit <= last_bit; ++bit) {
    Real lower;
    Real upper;
    bit_probability(lower, bit, true);
    bit_probability(upper, bit, false);
    std::array<char, 64> name{};
    std::snprintf(name.data(), name.size(), "bit %d: 1 / (1 + exp(2^%d))", bit, bit - 40);
    settled = print_row(name.data(), lower, upper) && settled;
  }
  Real lower;
  Real upper;
  tail_probability(lower, true);
  tail_probability(upper, false);
  settled = print_row("bits 43 and up, not all 0: exp(-8)", lower, upper) && settled;
  return settled ? 0 : 1;
}
