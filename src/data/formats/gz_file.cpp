#include "gz_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <zlib.h>

#include "starling/core/check.hpp"
#include "starling/data/memory_records.hpp"

namespace starling {

namespace {

constexpr unsigned inner_buffer = 1U << 16;
constexpr std::size_t largest_read = std::size_t{1} << 24;

}  // namespace

void GzFile::Closer::operator()(gzFile_s* file) const {
  gzclose_r(file);
}

GzFile::GzFile(std::string path) : path_(std::move(path)) {
  errno = 0;
  file_.reset(gzopen(path_in_memory(path_).c_str(), "rb"));
  check<FailureError>(
      file_ != nullptr || errno != EMFILE,
      "cannot open '{}' (this process has too many files open: clients that have files of their own, and "
      "many of those whose records do not fit into --memory, have one each) raise --memory, or the "
      "limit with ulimit -n",
      path_);
  check(file_ != nullptr, "cannot open '{}' ({}) check the path and its permissions", path_,
        errno == 0 ? "out of memory" : std::strerror(errno));
  gzbuffer(file_.get(), inner_buffer);
}

std::size_t GzFile::read(void* buffer, std::size_t room) {
  std::size_t filled = 0;
  while (filled < room) {
    const auto wanted = static_cast<unsigned>(std::min(room - filled, largest_read));
    errno = 0;
    const int got = gzread(file_.get(), static_cast<char*>(buffer) + filled, wanted);
    if (got < static_cast<int>(wanted)) check_stream();
    if (got > 0) filled += static_cast<std::size_t>(got);
    if (got < static_cast<int>(wanted)) break;
  }
  return filled;
}

void GzFile::seek(std::uint64_t offset) {
  errno = 0;
  if (gzseek(file_.get(), static_cast<z_off_t>(offset), SEEK_SET) >= 0) return;
  check_stream();
  throw DataError(fmt::format("cannot go back in '{}' (it is not a regular file) copy it into one", path_));
}

void require_readable(const std::string& path) {
  GzFile file(path);
}

bool is_gzipped(const std::string& path) {
  GzFile file(path);
  char first = 0;
  static_cast<void>(file.read(&first, 1));
  return !file.plain();
}

bool GzFile::plain() const {
  return gzdirect(file_.get()) != 0;
}

void GzFile::check_stream() const {
  const int system_error = errno;
  int code = Z_OK;
  std::string_view text = gzerror(file_.get(), &code);
  if (code == Z_OK || code == Z_STREAM_END) return;
  check<DataError>(code != Z_ERRNO, "cannot read '{}' ({})", path_, std::strerror(system_error));
  check<DataError>(code != Z_BUF_ERROR, "{}: the gzip stream ends early (the file is truncated) fetch it again", path_);
  if (text.starts_with(path_)) text.remove_prefix(std::min(text.size(), path_.size() + 2));
  throw DataError(fmt::format("{}: the gzip stream is damaged ({}) fetch it again", path_, text));
}

}  // namespace starling
