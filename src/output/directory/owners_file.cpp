#include "output/directory/owners_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include "core/check.hpp"
#include "files/durable_file.hpp"

namespace starling {

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  check<FailureError>(!error, "cannot make the folder '{}': {}. Name another, or see to the permissions above it.",
                      path, error.message());
}

void make_folder_of(const std::string& file) {
  make_folder(std::filesystem::path(file).parent_path().string());
}

std::int64_t settle_file(const std::string& path) {
  const Descriptor file(path, O_WRONLY);
  struct stat status {};
  const bool settled = file.get() >= 0 && fsync(file.get()) == 0 && fstat(file.get(), &status) == 0;
  require_written(settled ? 0 : errno, path, "check the folder and the disk");
  return status.st_size;
}

void cut_file(const std::string& path, std::int64_t size) {
  const std::int64_t now = settle_file(path);
  check<DataError>(now >= size, "'{}' has {} bytes, of {} when the checkpoint was written: it was cut. Restore it.",
                   path, now, size);
  require_written(truncate(path.c_str(), static_cast<off_t>(size)) == 0 ? 0 : errno, path);
}

OwnersFile::OwnersFile(std::string path) : path_(std::move(path)) {
  append_text("");
}

void OwnersFile::replace(const std::string& path, const Secret<std::string>& content) {
  require_written(replace_file(path, content.open(OpenKey())), path, "check the folder and the disk");
}

Secret<std::string> OwnersFile::read(std::int64_t from, std::int64_t bytes) const {
  const Descriptor file(path_, O_RDONLY);
  std::string text(static_cast<std::size_t>(bytes), '\0');
  require_read(file.get() < 0 ? errno : read_all(file.get(), text, from), path_);
  return Secret<std::string>(std::move(text));
}

void OwnersFile::append_text(const std::string& text) const {
  const Descriptor file(path_, O_WRONLY | O_CREAT | O_APPEND);
  require_written(file.get() < 0 ? errno : write_all(file.get(), text), path_);
}

}  // namespace starling
