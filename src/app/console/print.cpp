#include "print.hpp"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "starling/core/check.hpp"

namespace starling {

namespace {

PrintedText* collecting = nullptr;

}  // namespace

PrintedText::PrintedText() {
  collecting = this;
}
PrintedText::~PrintedText() {
  collecting = nullptr;
}

void print(std::string_view text) {
  if (collecting != nullptr) {
    collecting->text_ += text;
    return;
  }
  const bool done = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  check<FailureError>(done, "cannot write to standard output: {}. See whether it is closed, or its disk full.",
                      std::generic_category().message(errno));
}

}  // namespace starling
