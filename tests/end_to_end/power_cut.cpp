// A library to preload (LD_PRELOAD) that ends the program `starling` at one of its calls, as a power loss would. The
// environment variable POWER_CUT says where: `before|after rename|write PATTERN N` ends it at the call after N others
// on paths that contain PATTERN. A call of rename is on its new name, one of write on the file that is written.
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

struct Cut {
  std::string moment;
  std::string call;
  std::string pattern;
  long passes_left = -1;
};

Cut read_cut() {
  const char* const asked = std::getenv("POWER_CUT");
  char moment[8];
  char call[8];
  char pattern[256];
  long passes = 0;
  if (asked == nullptr || std::strcmp(program_invocation_short_name, "starling") != 0) return {};
  if (std::sscanf(asked, "%7s %7s %255s %ld", moment, call, pattern, &passes) != 4) {
    std::fprintf(stderr, "POWER_CUT='%s' is not `before|after rename|write PATTERN N`\n", asked);
    std::abort();
  }
  return {moment, call, pattern, passes};
}

/// Whether the power is cut at this call.
bool is_cut(std::string_view call, const char* path) {
  static Cut cut = read_cut();
  return cut.call == call && std::strstr(path, cut.pattern.c_str()) != nullptr && cut.passes_left-- == 0;
}

bool cuts_before() {
  static const bool before = read_cut().moment == "before";
  return before;
}

/// Makes the call, with the power cut before or after it if it is the one.
template <class Call>
auto with_cut(std::string_view name, const char* path, Call&& call) {
  const int error = errno;
  const bool cut = is_cut(name, path);
  if (cut && cuts_before()) std::raise(SIGKILL);
  errno = error;
  const auto result = call();
  if (cut) std::raise(SIGKILL);
  return result;
}

std::string path_of(int file) {
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
  return with_cut("rename", to, [&] { return real(from, to); });
}

ssize_t write(int file, const void* bytes, size_t count) {
  static auto* const real = next<ssize_t(int, const void*, size_t)>("write");
  return with_cut("write", path_of(file).c_str(), [&] { return real(file, bytes, count); });
}

ssize_t pwrite(int file, const void* bytes, size_t count, off_t at) {
  static auto* const real = next<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  return with_cut("write", path_of(file).c_str(), [&] { return real(file, bytes, count, at); });
}

ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t at) {
  static auto* const real = next<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
  return with_cut("write", path_of(file).c_str(), [&] { return real(file, bytes, count, at); });
}

}  // extern "C"
