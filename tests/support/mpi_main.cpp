#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "starling/net/agreement.hpp"
#include "support/mpi_testing.hpp"

namespace starling::testing_support {

namespace {
World* the_world = nullptr;
}

World& world() { return *the_world; }

}  // namespace starling::testing_support

// Fails on every rank when a test failed on any rank, or when no test ran.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  starling::World world;
  world.set_watchdog(30);
  starling::testing_support::the_world = &world;
  if (world.rank() != 0) {
    testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
  }
  const int failed = RUN_ALL_TESTS();
  const bool ran = testing::UnitTest::GetInstance()->test_to_run_count() > 0;
  std::string verdict = failed != 0 ? "failed" : ran ? "passed" : "ran no test";
  int result = 0;
  const auto verdicts = starling::Agreement(world).all_gather(starling::declare_public(verdict));
  for (std::size_t r = 0; r < verdicts.size(); ++r) {
    if (verdicts[r] == "passed") continue;
    result = 1;
    if (world.rank() == 0) std::fprintf(stderr, "rank %zu %s\n", r, verdicts[r].c_str());
  }
  return result;
}
