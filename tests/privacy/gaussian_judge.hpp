/// What tests of the Gaussian sampler's exactness need: words of their own choice, and a judge in MPFR.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <mpfr.h>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "privacy/noise/gaussian_noise.hpp"

namespace starling::testing_support {

inline constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;

/// Words given beforehand; zeros follow them if told, else running out is an error.
class GivenWords {
 public:
  explicit GivenWords(std::vector<std::uint64_t> words, bool zeros_follow = false)
      : words_(std::move(words)), zeros_follow_(zeros_follow) {}
  std::uint64_t operator()() {
    if (next_ < words_.size()) return words_[next_++];
    if (!zeros_follow_) throw std::runtime_error("no more words");
    return 0;
  }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t next_ = 0;
  bool zeros_follow_;
};

/// A check of draws that shares nothing with the sampler but MPFR: Q on both sides of k, rounded to nearest.
class GaussianJudge {
 public:
  GaussianJudge(double sigma, mpfr_prec_t precision) : sigma_(sigma) {
    mpfr_inits2(precision, u_, q_, scale_, static_cast<mpfr_ptr>(nullptr));
  }
  ~GaussianJudge() { mpfr_clears(u_, q_, scale_, static_cast<mpfr_ptr>(nullptr)); }
  GaussianJudge(const GaussianJudge&) = delete;
  GaussianJudge& operator=(const GaussianJudge&) = delete;

  /// Whether k = round(σ z(U)), with its sign, for all U that begin with the digits in `words`. The precision must be
  /// enough to see it.
  bool right(std::int64_t k, const std::vector<std::uint64_t>& words) {
    const std::int64_t size = std::abs(k);
    if (k != 0 && (k < 0) != ((words[0] & sign_bit) != 0)) return false;
    mpfr_set_ui_2exp(u_, words[0] & ~sign_bit, -64, MPFR_RNDN);
    for (std::size_t i = 1; i < words.size(); ++i) {
      mpfr_set_ui_2exp(q_, words[i], -64 * (static_cast<mpfr_exp_t>(i) + 1), MPFR_RNDN);
      mpfr_add(u_, u_, q_, MPFR_RNDN);
    }
    if (compare(size + 1) <= 0) return false;
    mpfr_set_ui_2exp(q_, 1, -64 * static_cast<mpfr_exp_t>(words.size()), MPFR_RNDN);
    mpfr_add(u_, u_, q_, MPFR_RNDN);
    return size == 0 || compare(size) < 0;
  }
  /// 64-bit words of the binary digits of Q((m − 1/2)/σ), the first after the point being the sign bit's place.
  std::vector<std::uint64_t> digits_of_boundary(std::int64_t m, std::size_t count) {
    upper_tail(m);
    std::vector<std::uint64_t> words;
    for (std::size_t i = 0; i < count; ++i) {
      mpfr_mul_2ui(q_, q_, 64, MPFR_RNDN);
      mpfr_floor(u_, q_);
      words.push_back(mpfr_get_ui(u_, MPFR_RNDN));
      mpfr_sub(q_, q_, u_, MPFR_RNDN);
    }
    return words;
  }

 private:
  void upper_tail(std::int64_t m) {
    mpfr_sqrt_ui(scale_, 2, MPFR_RNDN);
    mpfr_mul_d(scale_, scale_, sigma_, MPFR_RNDN);
    mpfr_set_si(q_, 2 * m - 1, MPFR_RNDN);
    mpfr_div_2ui(q_, q_, 1, MPFR_RNDN);
    mpfr_div(q_, q_, scale_, MPFR_RNDN);
    mpfr_erfc(q_, q_, MPFR_RNDN);
    mpfr_div_2ui(q_, q_, 1, MPFR_RNDN);
  }
  /// Sign of U − Q((m − 1/2)/σ); 0 if they agree to within 2^-12 of the precision.
  int compare(std::int64_t m) {
    upper_tail(m);
    mpfr_sub(q_, u_, q_, MPFR_RNDN);
    if (mpfr_zero_p(q_) != 0 || mpfr_get_exp(q_) < mpfr_get_exp(u_) - mpfr_get_prec(u_) + 12) return 0;
    return mpfr_sgn(q_);
  }

  double sigma_;
  mpfr_t u_;
  mpfr_t q_;
  mpfr_t scale_;
};

/// So many draws at each scale over the whole range: each is the exact rounding of what its words say. A draw that the
/// first word does not decide takes the words that follow.
inline void expect_correct_rounding(std::size_t draws) {
  for (const double sigma : {16.0, 0x1p30, 0x1p41, 1.7e15, 0x1p56}) {
    const GaussianNoise noise(sigma);
    GaussianJudge judge(sigma, 96);
    GaussianJudge precise(sigma, 256);
    Keystream production(NoiseKey::from_seed(40, 0));
    Keystream replay(NoiseKey::from_seed(40, 0));
    std::vector<std::int64_t> integers(draws);
    noise.add(production, integers);
    std::size_t wrong = 0;
    for (const std::int64_t k : integers) {
      std::vector<std::uint64_t> words{replay()};
      if (!noise.first_try(words[0]).decided) {
        wrong += noise.exact(words[0], [&] { return words.emplace_back(replay()); }) != k ? 1 : 0;
      }
      wrong += (words.size() > 1 ? precise : judge).right(k, words) ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0U) << sigma;
    EXPECT_EQ(production(), replay()) << "words were lost or taken twice, sigma=" << sigma;
  }
}

}  // namespace starling::testing_support
