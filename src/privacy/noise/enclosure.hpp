/// Enclosures of positive numbers in MPFR, every rounding outwards.
#pragma once

#include <mpfr.h>

namespace starling {

/// Interval [lower, upper] that contains the exact value of a computation. All operations take and return enclosures of
/// non-negative numbers.
class Enclosure {
 public:
  explicit Enclosure(mpfr_prec_t precision) { mpfr_inits2(precision, lower_, upper_, static_cast<mpfr_ptr>(nullptr)); }
  ~Enclosure() { mpfr_clears(lower_, upper_, static_cast<mpfr_ptr>(nullptr)); }
  Enclosure(const Enclosure&) = delete;
  Enclosure& operator=(const Enclosure&) = delete;

  [[nodiscard]] mpfr_srcptr lower() const { return lower_; }
  [[nodiscard]] mpfr_srcptr upper() const { return upper_; }

  void set(double value) {
    mpfr_set_d(lower_, value, MPFR_RNDD);
    mpfr_set_d(upper_, value, MPFR_RNDU);
  }
  void set(long value) {
    mpfr_set_si(lower_, value, MPFR_RNDD);
    mpfr_set_si(upper_, value, MPFR_RNDU);
  }
  void multiply(const Enclosure& by) {
    mpfr_mul(lower_, lower_, by.lower_, MPFR_RNDD);
    mpfr_mul(upper_, upper_, by.upper_, MPFR_RNDU);
  }
  void divide(const Enclosure& by) {
    mpfr_div(lower_, lower_, by.upper_, MPFR_RNDD);
    mpfr_div(upper_, upper_, by.lower_, MPFR_RNDU);
  }
  /// `other` is no larger.
  void subtract(const Enclosure& other) {
    mpfr_sub(lower_, lower_, other.upper_, MPFR_RNDD);
    mpfr_sub(upper_, upper_, other.lower_, MPFR_RNDU);
    if (mpfr_sgn(lower_) < 0) mpfr_set_zero(lower_, 1);
  }
  void square_root() {
    mpfr_sqrt(lower_, lower_, MPFR_RNDD);
    mpfr_sqrt(upper_, upper_, MPFR_RNDU);
  }
  void exponential() {
    mpfr_exp(lower_, lower_, MPFR_RNDD);
    mpfr_exp(upper_, upper_, MPFR_RNDU);
  }
  void error_function() {
    mpfr_erf(lower_, lower_, MPFR_RNDD);
    mpfr_erf(upper_, upper_, MPFR_RNDU);
  }
  /// 1 − erf, a decreasing function.
  void complementary_error_function() {
    mpfr_swap(lower_, upper_);
    mpfr_erfc(lower_, lower_, MPFR_RNDD);
    mpfr_erfc(upper_, upper_, MPFR_RNDU);
  }

 private:
  mpfr_t lower_;
  mpfr_t upper_;
};

}  // namespace starling
