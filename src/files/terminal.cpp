#include "files/terminal.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace starling {

namespace {

constexpr int no_file = -1;

bool is_launcher(std::string_view name) {
  constexpr std::array<std::string_view, 4> launchers{"mpirun", "mpiexec", "orterun", "prterun"};
  return std::ranges::any_of(launchers, [name](std::string_view launcher) { return name.starts_with(launcher); });
}

/// Standard error of the launcher that is this process's parent, opened once more. A shell between the two may have
/// sent the output elsewhere, so that only the parent counts.
int standard_error_of_launcher() {
  if (std::getenv("OMPI_COMM_WORLD_RANK") == nullptr) return no_file;
  const std::string parent = fmt::format("/proc/{}", ::getppid());
  std::string name;
  std::ifstream(parent + "/comm") >> name;
  if (!is_launcher(name)) return no_file;
  return ::open((parent + "/fd/2").c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
}

}  // namespace

std::optional<Terminal> Terminal::of_standard_error() {
  if (::isatty(STDERR_FILENO) != 0) return Terminal(STDERR_FILENO);
  const int file = standard_error_of_launcher();
  if (file == no_file) return std::nullopt;
  Terminal terminal(file);
  if (::isatty(file) == 0) return std::nullopt;
  return terminal;
}

Terminal::Terminal(Terminal&& other) noexcept : file_(std::exchange(other.file_, no_file)) {}

Terminal::~Terminal() {
  if (file_ > STDERR_FILENO) ::close(file_);
}

std::size_t Terminal::columns() const {
  winsize size{};
  return ::ioctl(file_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual_columns;
}

}  // namespace starling
