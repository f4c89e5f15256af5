#include "ledger_file.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "starling/core/check.hpp"

namespace starling {

namespace {

constexpr mode_t owner_only = S_IRUSR | S_IWUSR;

std::string reason_of(int error) {
  return std::generic_category().message(error);
}

[[noreturn]] void throw_failed(const std::string& what, const std::string& path, int error) {
  throw FailureError(
      fmt::format("cannot {} privacy ledger '{}' ({}) check the folder and the disk", what, path, reason_of(error)));
}

int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// 0 or the error.
int write_and_sync(int file, std::string_view text) {
  if (const int error = write_all(file, text); error != 0) return error;
  return ::fsync(file) == 0 ? 0 : errno;
}

/// A file's name survives a crash when its folder was synced.
void sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const Descriptor descriptor(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
  if (descriptor.get() < 0 || ::fsync(descriptor.get()) != 0) throw_failed("sync the folder of", path, errno);
}

struct flock whole_file(short kind) {
  struct flock range {};
  range.l_type = kind;
  range.l_whence = SEEK_SET;
  return range;
}

/// Whether there is something, which must then be a plain file: reading a pipe would wait for ever.
bool exists_as_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return false;
    throw_failed("open", path, errno);
  }
  check(S_ISREG(status.st_mode), "privacy ledger '{}' is not a plain file (rows are appended to one) name another",
        path);
  return true;
}

/// Opens the ledger or creates it; never creates one where a head says that there was one.
Descriptor open_or_create(const std::string& path) {
  if (!exists_as_file(path)) {
    const auto head = content_of(head_path(path));
    check<DataError>(!head || head->starts_with("{\"rows\":0,"),
                     "privacy ledger '{}' is gone (its head file is there and counts rows) restore it from a copy, or "
                     "name another: what was spent by then cannot be certified any more",
                     path);
  }
  Descriptor file(path, O_RDWR | O_APPEND | O_CREAT);
  if (file.get() < 0) throw_failed("open", path, errno);
  return file;
}

/// Of the open file, not of the process: two ledgers of one process cannot hold it either.
void hold(const Descriptor& file, const std::string& path) {
  struct flock range = whole_file(F_WRLCK);
  if (::fcntl(file.get(), F_OFD_SETLK, &range) == 0) return;
  check(errno != EAGAIN && errno != EACCES,
        "privacy ledger '{}' is in use (another run writes to it) wait for that run's end, or name another file", path);
  throw_failed("lock", path, errno);
}

}  // namespace

std::string head_path(const std::string& path) {
  return path + ".head";
}

Descriptor::Descriptor(const std::string& path, int flags)
    : file_(::open(path.c_str(), flags | O_CLOEXEC, owner_only)) {}

Descriptor::~Descriptor() {
  if (file_ >= 0) ::close(file_);
}

std::optional<std::string> content_of(const std::string& path) {
  if (!exists_as_file(path)) return std::nullopt;
  const Descriptor file(path, O_RDONLY);
  if (file.get() < 0) throw_failed("open", path, errno);
  std::string text;
  std::string piece(std::size_t{1} << 16, '\0');
  while (true) {
    const ssize_t count = ::read(file.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_failed("read", path, errno);
    if (count == 0) return text;
    text.append(piece, 0, static_cast<std::size_t>(count));
  }
}

bool is_held(const std::string& path) {
  if (!exists_as_file(path)) return false;
  const Descriptor file(path, O_RDONLY);
  struct flock range = whole_file(F_RDLCK);
  return file.get() >= 0 && ::fcntl(file.get(), F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

LedgerFile::LedgerFile(const std::string& path) : file_(open_or_create(path)) {
  std::error_code error;
  path_ = std::filesystem::canonical(path, error).string();
  if (error) throw_failed("find", path, error.value());
  hold(file_, path_);
}

std::string LedgerFile::text() const {
  return content_of(path_).value_or("");
}

std::optional<std::string> LedgerFile::head() const {
  return content_of(head_path(path_));
}

void LedgerFile::append(const std::string& line) {
  struct stat before {};
  if (::fstat(file_.get(), &before) != 0) throw_failed("measure", path_, errno);
  const int error = write_and_sync(file_.get(), line);
  if (error == 0) return;
  static_cast<void>(::ftruncate(file_.get(), before.st_size));  // a torn line is recognised, should this fail too
  throw_failed("write to", path_, error);
}

void LedgerFile::cut(std::size_t size) {
  if (::ftruncate(file_.get(), static_cast<off_t>(size)) != 0 || ::fsync(file_.get()) != 0) {
    throw_failed("cut the torn line off", path_, errno);
  }
}

void LedgerFile::put_head(const std::string& line) {
  const std::string head = head_path(path_);
  const std::string part = head + ".part";
  {
    const Descriptor file(part, O_WRONLY | O_CREAT | O_TRUNC);
    const int error = file.get() < 0 ? errno : write_and_sync(file.get(), line);
    if (error != 0) throw_failed("write the head of", path_, error);
  }
  if (std::rename(part.c_str(), head.c_str()) != 0) throw_failed("replace the head of", path_, errno);
  sync_folder_of(path_);
}

}  // namespace starling
