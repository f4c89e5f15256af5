#include "files/durable_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/check.hpp"

namespace starling {

int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

int read_all(int file, std::string& text, off_t from) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::pread(file, text.data() + done, text.size() - done, from + static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 ? errno : EIO;
    done += static_cast<std::size_t>(count);
  }
  return 0;
}

// O_NONBLOCK: opening a pipe for reading would otherwise wait until somebody opens it for writing.
Descriptor::Descriptor(const std::string& path, int flags, mode_t mode)
    : file_(::open(path.c_str(), flags | O_CLOEXEC | ((flags & O_ACCMODE) == O_RDONLY ? O_NONBLOCK : 0), mode)) {}

Descriptor::~Descriptor() {
  if (file_ >= 0) ::close(file_);
}

int write_and_sync(int file, std::string_view text) {
  if (const int error = write_all(file, text); error != 0) return error;
  return ::fsync(file) == 0 ? 0 : errno;
}

int try_file(const std::string& path) {
  const std::string trial = fmt::format("{}.{}.trial", path, ::getpid());
  const Descriptor file(trial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC);
  if (file.get() < 0) return errno;
  return std::remove(trial.c_str()) == 0 ? 0 : errno;
}

int sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const Descriptor descriptor(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
  return descriptor.get() >= 0 && ::fsync(descriptor.get()) == 0 ? 0 : errno;
}

int replace_file(const std::string& path, std::string_view content, mode_t mode) {
  const std::string part = path + ".part";
  {
    const Descriptor file(part, O_WRONLY | O_CREAT | O_TRUNC, mode);
    const int error = file.get() < 0 ? errno : write_and_sync(file.get(), content);
    if (error != 0) return error;
  }
  if (std::rename(part.c_str(), path.c_str()) != 0) return errno;
  return sync_folder_of(path);
}

void require_read(int error, const std::string& path) {
  check<FailureError>(error == 0, "cannot read '{}' ({})", path, std::strerror(error));
}

void require_written(int error, const std::string& path, std::string_view advice) {
  check<FailureError>(error == 0, "cannot write '{}' ({}){}{}", path, std::strerror(error), advice.empty() ? "" : " ",
                      advice);
}

namespace {

/// The most bytes of text from what is no regular file: a device may give bytes for ever.
constexpr std::size_t most_streamed = std::size_t{64} << 20;

/// Whether the file is a pipe with a name: to read one is to wait for whoever may write to it. A pipe without a name,
/// as of `| starling … /dev/stdin` or `<(…)`, was made for this process.
bool is_named_pipe(int file, const struct stat& status) {
  struct statfs system {};
  return S_ISFIFO(status.st_mode) && (::fstatfs(file, &system) != 0 || system.f_type != PIPEFS_MAGIC);
}

void wait_for_bytes(int file) {
  pollfd waited{file, POLLIN, 0};
  ::poll(&waited, 1, -1);
}

}  // namespace

void refuse_stream(const std::string& path) {
  const Descriptor file(path, O_RDONLY | O_NOCTTY);
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) return;
  check<DataError>(!is_named_pipe(file.get(), status) && !S_ISBLK(status.st_mode) && !S_ISCHR(status.st_mode),
                   "cannot read '{}': it is a {}, where a file is wanted. Name a file.", path,
                   S_ISFIFO(status.st_mode) ? "named pipe" : "device");
}

std::optional<std::string> read_whole_file(const std::string& path) {
  const Descriptor file(path, O_RDONLY | O_NOCTTY);
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) return std::nullopt;
  const bool is_stream = !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
  check<DataError>(!is_named_pipe(file.get(), status) && !S_ISBLK(status.st_mode),
                   "cannot read '{}': it is a {}, where a file is wanted. Name a file.", path,
                   S_ISBLK(status.st_mode) ? "disk" : "named pipe");
  std::string text;
  std::string piece(std::size_t{1} << 16, '\0');
  while (true) {
    const ssize_t count = ::read(file.get(), piece.data(), piece.size());
    if (count < 0 && errno == EAGAIN) wait_for_bytes(file.get());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) return text;
    text.append(piece, 0, static_cast<std::size_t>(count));
    check<DataError>(!is_stream || text.size() <= most_streamed,
                     "cannot read '{}': it is no regular file, and gives more than {} MB. Copy it into a file.", path,
                     most_streamed >> 20);
  }
}

}  // namespace starling
