// A report that rank 0 has not asked for when it ends does not keep its sender from ending.
#include <unistd.h>

#include <gtest/gtest.h>

#include "net/agreement.hpp"
#include "support/mpi_testing.hpp"

namespace starling::uncollected_report_test {

using testing_support::world;

TEST(Report, ThatNobodyCollectsHoldsNobodyUp) {
  const Vector numbers(100'000, 1.0);  // more than MPI sends before somebody receives
  Agreement agreement(world());
  agreement.report(Released<Vector>(declare_public(numbers)));
  const auto bytes = world().rank() == 0 ? 0 : static_cast<std::int64_t>(numbers.size() * sizeof(double));
  EXPECT_EQ(agreement.bytes(), bytes);
  alarm(20);  // kills a process that does not end: the world's end is what is tested, and it calls this off
}

}  // namespace starling::uncollected_report_test
