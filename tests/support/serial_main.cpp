#include <cstdio>

#include "one_file.hpp"

// GoogleTest's own main passes when a filter or an empty table leaves no test to run; this one does not.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  starling::testing_support::choose_file(argc, argv);
  const int failed = RUN_ALL_TESTS();
  if (!testing::GTEST_FLAG(list_tests) && testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    std::fputs("no test ran\n", stderr);
    return 1;
  }
  return failed;
}
