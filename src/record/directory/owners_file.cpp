#include "starling/record/directory/owners_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include "starling/core/check.hpp"
#include "starling/files/durable_file.hpp"

namespace starling {

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  check<FailureError>(!error, "cannot make '{}' ({})", path, error.message());
}

void make_folder_of(const std::string& file) {
  make_folder(std::filesystem::path(file).parent_path().string());
}

std::int64_t settle_file(const std::string& path) {
  const Descriptor file(path, O_WRONLY);
  struct stat status {};
  const bool settled = file.get() >= 0 && fsync(file.get()) == 0 && fstat(file.get(), &status) == 0;
  check<FailureError>(settled, "cannot write '{}' ({}) check the folder and the disk", path, std::strerror(errno));
  return status.st_size;
}

void cut_file(const std::string& path, std::int64_t size) {
  const std::int64_t now = settle_file(path);
  check<DataError>(now >= size, "'{}' has {} bytes, of {} when the checkpoint was written (it was cut) restore it",
                   path, now, size);
  const bool cut = truncate(path.c_str(), static_cast<off_t>(size)) == 0;
  check<FailureError>(cut, "cannot write '{}' ({})", path, std::strerror(errno));
}

OwnersFile::OwnersFile(std::string path) : path_(std::move(path)) {
  append_text("");
}

void OwnersFile::replace(const std::string& path, const Secret<std::string>& content) {
  const int error = replace_file(path, content.open(OpenKey()));
  check<FailureError>(error == 0, "cannot write '{}' ({}) check the folder and the disk", path, std::strerror(error));
}

Secret<std::string> OwnersFile::read(std::int64_t from, std::int64_t bytes) const {
  const Descriptor file(path_, O_RDONLY);
  std::string text(static_cast<std::size_t>(bytes), '\0');
  const int error = file.get() < 0 ? errno : read_all(file.get(), text, from);
  check<FailureError>(error == 0, "cannot read '{}' ({})", path_, std::strerror(error));
  return Secret<std::string>(std::move(text));
}

void OwnersFile::append_text(const std::string& text) const {
  const Descriptor file(path_, O_WRONLY | O_CREAT | O_APPEND);
  const int error = file.get() < 0 ? errno : write_all(file.get(), text);
  check<FailureError>(error == 0, "cannot write '{}' ({})", path_, std::strerror(error));
}

}  // namespace starling
