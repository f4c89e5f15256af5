#include "starling/files/durable_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include "starling/core/check.hpp"

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

Descriptor::Descriptor(const std::string& path, int flags, mode_t mode)
    : file_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}

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

std::optional<std::string> read_whole_file(const std::string& path) {
  const Descriptor file(path, O_RDONLY);
  if (file.get() < 0) return std::nullopt;
  std::string text;
  std::string piece(std::size_t{1} << 16, '\0');
  while (true) {
    const ssize_t count = ::read(file.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) return text;
    text.append(piece, 0, static_cast<std::size_t>(count));
  }
}

}  // namespace starling
