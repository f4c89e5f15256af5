// A library to preload (LD_PRELOAD) that interrupts the program `starling` at calls of its own. The environment
// variable INTERRUPTION says where and how, by six words:
//
//   before|after rename|write PATTERN N signal NUMBER   the process gets the signal at the call after N others on paths
//                                                       that contain PATTERN; by 9 it ends as by a power loss
//   before|after rename|write PATTERN N sleep MS        it sleeps at that call and all that follow
//
// A call of rename is on its new name, one of write on the file that is written.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <limits.h>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <unistd.h>

namespace {

struct Interruption {
  std::string moment;
  std::string call;
  std::string pattern;
  long passes_left = -1;
  std::string action;
  int number = 0;  ///< of a signal, or milliseconds
};

Interruption read_interruption() {
  const char* const asked = std::getenv("INTERRUPTION");
  char moment[8];
  char call[8];
  char pattern[256];
  char action[8];
  long passes = 0;
  int number = 0;
  if (asked == nullptr || std::strcmp(program_invocation_short_name, "starling") != 0) return {};
  if (std::sscanf(asked, "%7s %7s %255s %ld %7s %d", moment, call, pattern, &passes, action, &number) != 6) {
    std::fprintf(stderr, "INTERRUPTION='%s' is not `before|after rename|write PATTERN N signal|sleep NUMBER`\n", asked);
    std::abort();
  }
  return {moment, call, pattern, passes, action, number};
}

Interruption interruption = read_interruption();

bool is_due(std::string_view call, const std::string& path) {
  if (interruption.call != call || path.find(interruption.pattern) == std::string::npos) return false;
  if (interruption.action == "sleep") return interruption.passes_left-- <= 0;
  return interruption.passes_left-- == 0;
}

void interrupt() {
  if (interruption.action == "sleep") {
    ::usleep(1000U * static_cast<unsigned>(interruption.number));
  } else {
    ::kill(::getpid(), interruption.number);
  }
}

/// Makes the call, and interrupts the process before or after it if it is the one.
template <class Call>
auto with_interruption(std::string_view name, const std::string& path, Call&& call) {
  const int error = errno;
  const bool due = is_due(name, path);
  if (due && interruption.moment == "before") interrupt();
  errno = error;
  const auto result = call();
  const int error_of_call = errno;
  if (due && interruption.moment == "after") interrupt();
  errno = error_of_call;
  return result;
}

/// The path of a file that is written; empty where nobody asks for it.
std::string path_of(int file) {
  if (interruption.call != "write") return "";
  char path[PATH_MAX];
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const ssize_t length = ::readlink(link.c_str(), path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "";
}

/// The function of this name that the program would have called.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int rename(const char* from, const char* to) noexcept {
  static auto* const real = next<int(const char*, const char*)>("rename");
  return with_interruption("rename", to, [&] { return real(from, to); });
}

ssize_t write(int file, const void* bytes, size_t count) {
  static auto* const real = next<ssize_t(int, const void*, size_t)>("write");
  return with_interruption("write", path_of(file), [&] { return real(file, bytes, count); });
}

ssize_t pwrite(int file, const void* bytes, size_t count, off_t at) {
  static auto* const real = next<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  return with_interruption("write", path_of(file), [&] { return real(file, bytes, count, at); });
}

ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t at) {
  static auto* const real = next<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
  return with_interruption("write", path_of(file), [&] { return real(file, bytes, count, at); });
}

}  // extern "C"
