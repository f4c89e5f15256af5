#include "print.hpp"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "starling/core/check.hpp"

namespace starling {

void print(std::string_view text) {
  const bool done = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  check<FailureError>(done, "cannot write to standard output: {}. See whether it is closed, or its disk full.",
                      std::generic_category().message(errno));
}

}  // namespace starling
