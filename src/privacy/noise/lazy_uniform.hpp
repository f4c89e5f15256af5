/// A uniform number whose binary digits are drawn as they are needed, for exact comparisons in MPFR.
#pragma once

#include <cstdint>
#include <functional>
#include <mpfr.h>

namespace starling {

/// The next 64 random bits.
using MoreWords = std::function<std::uint64_t()>;

static_assert(sizeof(unsigned long) == sizeof(std::uint64_t));  // for mpfr_set_ui_2exp

/// A number of MPFR.
class Real {
 public:
  explicit Real(mpfr_prec_t precision) { mpfr_init2(value_, precision); }
  ~Real() { mpfr_clear(value_); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  operator mpfr_ptr() { return value_; }
  operator mpfr_srcptr() const { return value_; }

 private:
  mpfr_t value_;
};

/// Uniform on [0, 1], known to lie in [lower, lower + 2^-digits]; exact whatever its length.
class LazyUniform {
 public:
  /// `word` holds the first 64 digits, and `more` gives the next ones.
  LazyUniform(std::uint64_t word, const MoreWords& more) : more_(more) {
    mpfr_set_ui_2exp(lower_, word, -64, MPFR_RNDN);
    update();
  }

  /// Draws 64 more digits.
  void refine() {
    Real next(64);
    mpfr_prec_round(lower_, digits_ + 64, MPFR_RNDN);
    mpfr_set_ui_2exp(next, more_(), -digits_ - 64, MPFR_RNDN);
    mpfr_add(lower_, lower_, next, MPFR_RNDN);
    digits_ += 64;
    update();
  }
  [[nodiscard]] mpfr_srcptr lower() const { return lower_; }
  [[nodiscard]] mpfr_srcptr upper() const { return upper_; }
  [[nodiscard]] mpfr_exp_t digits() const { return digits_; }

 private:
  /// Both are multiples of 2^-digits, at most 1: no rounding.
  void update() {
    Real width(2);
    mpfr_set_ui_2exp(width, 1, -digits_, MPFR_RNDN);
    mpfr_set_prec(upper_, digits_ + 2);
    mpfr_add(upper_, lower_, width, MPFR_RNDN);
  }

  const MoreWords& more_;
  mpfr_exp_t digits_ = 64;
  Real lower_{64};
  Real upper_{66};
};

}  // namespace starling
