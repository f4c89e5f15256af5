/// Arithmetic and format of numbers, whatever the program that embeds starling has set.
#pragma once

#include <clocale>
#include <locale>
#include <optional>
#include <string>

#include "starling/core/numerics/kept_arithmetic.hpp"

namespace starling {

/// While it lives this thread rounds to the nearest number, keeps numbers below 2^-1022, and writes and reads numbers
/// with a point and no separators of thousands. A program in which starling runs can have set otherwise: noise would
/// then not be what is proved of it, and "0.5" would be read as 0 where a locale has a comma.
class StandardNumbers {
 public:
  StandardNumbers();
  ~StandardNumbers();
  StandardNumbers(const StandardNumbers&) = delete;
  StandardNumbers& operator=(const StandardNumbers&) = delete;

 private:
  /// Locales that differ from what starling needs.
  struct OfProgram {
    std::locale streams;
    std::string names;  ///< of C functions
  };

  KeptArithmetic arithmetic_;
  locale_t point_;
  locale_t before_;
  std::optional<OfProgram> program_;
};

}  // namespace starling
