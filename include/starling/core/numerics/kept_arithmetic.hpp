/// Rounding of the processor, put back after calls of foreign code.
#pragma once

#include <cfenv>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace starling {

/// Puts back at its end how this thread rounds and whether numbers below 2^-1022 count as 0. Foreign code can change
/// both, and the proofs of privacy/noise/grid.hpp know neither: a shared library that GCC has linked with -ffast-math
/// does so as soon as it is loaded.
class KeptArithmetic {
 public:
  KeptArithmetic(const KeptArithmetic&) = delete;
  KeptArithmetic& operator=(const KeptArithmetic&) = delete;

#if defined(__x86_64__)
  KeptArithmetic() : rounding_(std::fegetround()), control_(_mm_getcsr()) {}
  ~KeptArithmetic() {
    if (((_mm_getcsr() ^ control_) & ~flags) == 0) return;
    std::fesetround(rounding_);  // of long doubles, which have a register of their own
    _mm_setcsr(control_);
  }

 private:
  static constexpr unsigned flags = 0x3f;  ///< of what has happened
  int rounding_;
  unsigned control_;
#else
  KeptArithmetic() {
    std::fegetenv(&kept_);
  }
  ~KeptArithmetic() {
    std::fesetenv(&kept_);
  }

 private:
  std::fenv_t kept_{};
#endif
};

}  // namespace starling
