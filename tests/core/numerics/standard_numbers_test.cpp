#include "core/numerics/standard_numbers.hpp"

#include <cfenv>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace starling {
namespace {

/// German format of numbers: 12.345,5.
class Commas : public std::numpunct<char> {
 protected:
  [[nodiscard]] char do_decimal_point() const override { return ','; }
  [[nodiscard]] char do_thousands_sep() const override { return '.'; }
  [[nodiscard]] std::string do_grouping() const override { return "\3"; }
};

std::string written(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

class StandardNumbersTest : public testing::Test {
 protected:
  void TearDown() override {
    std::locale::global(std::locale::classic());
    std::fesetenv(FE_DFL_ENV);
  }
};

TEST_F(StandardNumbersTest, StreamsWriteAPointAndNoSeparators) {
  std::locale::global(std::locale(std::locale::classic(), new Commas));
  ASSERT_EQ(written(12345.5), "12.345,5");
  {
    const StandardNumbers standard;
    EXPECT_EQ(written(12345.5), "12345.5");
    EXPECT_EQ(std::stod("0.5"), 0.5);
  }
  EXPECT_EQ(written(12345.5), "12.345,5");
}

TEST_F(StandardNumbersTest, ArithmeticIsStandardAndPutBack) {
  std::fesetround(FE_UPWARD);
  {
    const StandardNumbers standard;
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  }
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
}

#if defined(__x86_64__)
TEST_F(StandardNumbersTest, SmallNumbersAreNotFlushed) {
  constexpr unsigned flush_to_zero = 0x8000;
  constexpr unsigned denormals_are_zero = 0x40;
  constexpr unsigned both = flush_to_zero | denormals_are_zero;
  _mm_setcsr(_mm_getcsr() | both);
  {
    const StandardNumbers standard;
    EXPECT_EQ(_mm_getcsr() & both, 0U);
  }
  EXPECT_EQ(_mm_getcsr() & both, both);
}
#endif

TEST_F(StandardNumbersTest, TheLocaleOfTheThreadIsPutBack) {
  locale_t const before = uselocale(nullptr);
  {
    const StandardNumbers standard;
    EXPECT_NE(uselocale(nullptr), before);
  }
  EXPECT_EQ(uselocale(nullptr), before);
}

}  // namespace
}  // namespace starling
