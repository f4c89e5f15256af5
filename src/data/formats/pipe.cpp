#include "pipe.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <unistd.h>
#include <utility>

#include "core/check.hpp"

namespace starling {

bool is_pipe(const std::string& path) {
  std::error_code ignored;
  return path == "-" || std::filesystem::is_fifo(path, ignored);
}

// Opened without blocking, a pipe that nobody has written to yet is silent for poll; one whose writers have gone hangs
// up.
Pipe::Pipe(std::string path, std::function<bool()> go_on_waiting)
    : path_(std::move(path)),
      go_on_waiting_(std::move(go_on_waiting)),
      file_(path_ == "-" ? STDIN_FILENO : ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
  check<DataError>(file_ >= 0, "cannot open the pipe '{}': {}. Check its permissions.", path_, std::strerror(errno));
}

Pipe::~Pipe() {
  if (file_ != STDIN_FILENO) ::close(file_);
}

std::size_t Pipe::read(void* buffer, std::size_t room) {
  constexpr int milliseconds = 10;
  while (true) {
    pollfd waited{file_, POLLIN, 0};
    const int ready = ::poll(&waited, 1, milliseconds);
    if (ready > 0) {
      const ssize_t got = ::read(file_, buffer, room);
      if (got >= 0) return static_cast<std::size_t>(got);
    }
    check<DataError>(ready == 0 || errno == EINTR || errno == EAGAIN, "cannot read '{}' ({})", path_,
                     std::strerror(errno));
    interrupted_ = !go_on_waiting_();
    if (interrupted_) return 0;
  }
}

void Pipe::seek(std::uint64_t /*offset*/) {
  throw DataError(fmt::format("cannot go back in '{}': a pipe gives each record once. Copy it into a file.", path_));
}

}  // namespace starling
