/// Running the tests of one source file out of a program that has those of a whole module.
#pragma once

#include <string>

#include <gtest/gtest.h>

namespace starling::testing_support {

/// Reads `--file=NAME`, to be called after testing::InitGoogleTest: only tests of the source file NAME run then.
inline void choose_file(int argc, char** argv) {
  const std::string option = "--file=";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.rfind(option, 0) != 0) continue;
    const std::string ending = "/" + word.substr(option.size());
    std::string filter;
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    for (int s = 0; s < all.total_test_suite_count(); ++s) {
      const testing::TestSuite& suite = *all.GetTestSuite(s);
      for (int t = 0; t < suite.total_test_count(); ++t) {
        const testing::TestInfo& test = *suite.GetTestInfo(t);
        const std::string file = test.file();
        if (file.size() < ending.size() || file.compare(file.size() - ending.size(), ending.size(), ending) != 0)
          continue;
        filter += (filter.empty() ? "" : ":") + std::string(suite.name()) + "." + test.name();
      }
    }
    testing::GTEST_FLAG(filter) = filter.empty() ? "no test stands in this file" : filter;
  }
}

}  // namespace starling::testing_support
