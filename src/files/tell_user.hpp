/// Messages on standard error.
#pragma once

#include <atomic>
#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace starling {

/// Silence on standard error: while an object lives, `tell_user` writes nothing.
class Silence {
 public:
  Silence() { ++kept_; }
  ~Silence() { --kept_; }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;
  [[nodiscard]] static bool is_kept() { return kept_ > 0; }

 private:
  static inline std::atomic<int> kept_ = 0;
};

/// Writes the formatted text to standard error, unless a Silence is kept. A text that cannot be written is left out: a
/// full disk, a closed stream or a pipe that nobody reads must not end a run.
template <typename... Args>
void tell_user(fmt::format_string<Args...> format, Args&&... args) {
  if (Silence::is_kept()) return;
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

}  // namespace starling
