/// Arithmetic and format of numbers, whatever the program that embeds starling has set.
#pragma once

#include <locale>
#include <optional>
#include <string>

#include "core/numerics/kept_arithmetic.hpp"

namespace starling {

/// Standard arithmetic and number format of this thread during the life of the object: rounding to the nearest number,
/// numbers below 2^-1022 kept, a decimal point, and no separators of thousands. The end restores what was before. A
/// program that embeds starling may have other settings: the proofs about noise would not hold, and "0.5" would be
/// read as 0 in a locale with decimal commas. Throws FailureError without the locale C.
class StandardNumbers {
 public:
  StandardNumbers();
  ~StandardNumbers();
  StandardNumbers(const StandardNumbers&) = delete;
  StandardNumbers& operator=(const StandardNumbers&) = delete;

 private:
  /// Global locales of the program, kept where streams have another format of numbers.
  struct OfProgram {
    std::locale streams;
    std::string names;  ///< of the locale of C functions, for std::setlocale
  };

  KeptArithmetic arithmetic_;
  locale_t point_;
  locale_t before_;
  std::optional<OfProgram> program_;
};

}  // namespace starling
