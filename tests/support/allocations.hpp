/// What a test program asks for by operator new. A program that calls this has these operators replaced by ones that
/// count.
#pragma once

namespace starling::testing_support {

/// How often operator new was called since the program began, by all threads. Memory of C libraries is not seen.
long allocations() noexcept;

}  // namespace starling::testing_support
