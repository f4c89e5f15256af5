#include "ledger_file.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "core/check.hpp"

namespace starling {

namespace {

std::string reason_of(int error) {
  return std::generic_category().message(error);
}

[[noreturn]] void throw_failed(const std::string& what, const std::string& path, int error) {
  throw FailureError(
      fmt::format("cannot {} privacy ledger '{}': {}. Check the folder and the disk.", what, path, reason_of(error)));
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
  check(S_ISREG(status.st_mode), "privacy ledger '{}' is not a plain file: rows are appended to one. Name another.",
        path);
  return true;
}

/// Opens or creates the ledger. No ledger is created where a head shows that there was one.
Descriptor open_or_create(const std::string& path) {
  if (!exists_as_file(path)) {
    const auto head = content_of(head_path(path));
    check<DataError>(!head || head->starts_with("{\"rows\":0,"),
                     "privacy ledger '{}' is gone: its head file is there and counts rows. Restore it from a copy, or "
                     "name another: what was spent by then cannot be certified any more.",
                     path);
  }
  Descriptor file(path, O_RDWR | O_APPEND | O_CREAT);
  if (file.get() < 0) throw_failed("open", path, errno);
  return file;
}

/// A lock of the open file, not of the process: two ledgers of one process cannot hold the same file either.
void hold(const Descriptor& file, const std::string& path) {
  struct flock range = whole_file(F_WRLCK);
  if (::fcntl(file.get(), F_OFD_SETLK, &range) == 0) return;
  check(errno != EAGAIN && errno != EACCES,
        "privacy ledger '{}' is in use: another run writes to it. Wait for that run's end, or name another file.",
        path);
  throw_failed("lock", path, errno);
}

}  // namespace

std::string head_path(const std::string& path) {
  return path + ".head";
}

std::optional<std::string> content_of(const std::string& path) {
  if (!exists_as_file(path)) return std::nullopt;
  std::optional<std::string> text = read_whole_file(path);
  if (!text) throw_failed("read", path, errno);
  return text;
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
  if (const int error = replace_file(head, line); error != 0) throw_failed("write the head of", path_, error);
}

}  // namespace starling
