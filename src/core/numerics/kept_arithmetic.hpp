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
  KeptArithmetic() : control_(_mm_getcsr()) {}
  ~KeptArithmetic() {
    if (((_mm_getcsr() ^ control_) & ~flags) == 0) return;
    std::fesetround(static_cast<int>((control_ & rounding) >> 3));  // of long doubles, too, in a register of their own
    _mm_setcsr(control_);
  }

 private:
  static constexpr unsigned flags = 0x3f;       ///< of what has happened
  static constexpr unsigned rounding = 0x6000;  ///< as FE_UPWARD and others, times 8
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
