#include "print.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

#include "core/check.hpp"

namespace starling {

namespace {

PrintedText* collecting = nullptr;

/// A reader that has closed the pipe, as `head` does, has what it wants: the process ends silently, as others do.
void require_printed(bool done) {
  if (!done && errno == EPIPE) {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  check<FailureError>(done, "cannot write to standard output: {}. See whether it is closed, or its disk full.",
                      std::generic_category().message(errno));
}

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
  require_printed(done);
}

PrintStream::Pieces::int_type PrintStream::Pieces::overflow(int_type next) {
  if (sync() != 0) return traits_type::eof();
  return traits_type::eq_int_type(next, traits_type::eof()) ? traits_type::not_eof(next)
                                                            : sputc(traits_type::to_char_type(next));
}

int PrintStream::Pieces::sync() {
  try {
    print({pbase(), static_cast<std::size_t>(pptr() - pbase())});
  } catch (const FailureError&) {
    return -1;
  }
  setp(text_.data(), text_.data() + text_.size());
  return 0;
}

void PrintStream::finish() {
  flush();
  require_printed(good());
}

}  // namespace starling
