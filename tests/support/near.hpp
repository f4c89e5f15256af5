/// Comparison of vectors within a tolerance.
#pragma once

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "core/columns.hpp"

namespace starling::testing_support {

/// Each entry is within the tolerance of the expected one. Safe between collectives: it never leaves the test.
inline void expect_near(View actual, const Vector& expected, double tolerance) {
  EXPECT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < std::min(actual.size(), expected.size()); ++i) {
    EXPECT_NEAR(actual[i], expected[i], tolerance) << i;
  }
}

/// The same for a list of vectors.
inline void expect_near(const std::vector<Vector>& actual, const std::vector<Vector>& expected, double tolerance) {
  EXPECT_EQ(actual.size(), expected.size());
  for (std::size_t t = 0; t < std::min(actual.size(), expected.size()); ++t) {
    SCOPED_TRACE(t);
    expect_near(actual[t], expected[t], tolerance);
  }
}

}  // namespace starling::testing_support
