#include "gz_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include <zlib.h>

#include "core/check.hpp"
#include "data/memory_records.hpp"

namespace starling {

namespace {

constexpr std::size_t packed_bytes = std::size_t{1} << 16;
constexpr std::size_t largest_read = std::size_t{1} << 24;

}  // namespace

void GzFile::End::operator()(z_stream_s* stream) const {
  inflateEnd(stream);
  delete stream;
}

GzFile::GzFile(std::string path) : path_(std::move(path)), file_(path_in_memory(path_), O_RDONLY) {
  check<FailureError>(
      file_.get() >= 0 || errno != EMFILE,
      "cannot open '{}': this process has too many files open: clients that have files of their own, and many of those "
      "whose records do not fit into --memory, have one each. Raise --memory, or the limit with ulimit -n.",
      path_);
  check(file_.get() >= 0, "cannot open '{}': {}. Check the path and its permissions.", path_, std::strerror(errno));
}

void GzFile::begin() {
  begun_ = true;
  if (!refill() || packed_.size() < 2 || packed_[0] != '\x1F' || packed_[1] != '\x8B') return;
  auto stream = std::make_unique<z_stream>();
  constexpr int gzip = 16 + MAX_WBITS;
  check<FailureError>(inflateInit2(stream.get(), gzip) == Z_OK, "cannot open '{}': out of memory.", path_);
  stream_.reset(stream.release());
}

bool GzFile::refill() {
  packed_.resize(packed_bytes);
  taken_ = 0;
  ssize_t got = -1;
  do {
    got = ::read(file_.get(), packed_.data(), packed_.size());
  } while (got < 0 && errno == EINTR);
  check<DataError>(got >= 0, "cannot read '{}': {}. Check the path and its permissions.", path_, std::strerror(errno));
  packed_.resize(static_cast<std::size_t>(got));
  if (digest_ && got > 0) digest_->add({packed_.data(), packed_.size()});
  if (digest_ && got == 0) {
    note_digest_(digest_->digest());
    digest_.reset();
  }
  return got > 0;
}

void GzFile::make_digest(std::function<void(const std::string&)> note) {
  note_digest_ = std::move(note);
  digest_.emplace();
}

std::size_t GzFile::read(void* buffer, std::size_t room) {
  if (!begun_) begin();
  std::size_t filled = 0;
  while (filled < room) {
    char* const at = static_cast<char*>(buffer) + filled;
    const std::size_t wanted = std::min(room - filled, largest_read);
    const std::size_t got = plain() ? copy(at, wanted) : inflate(at, wanted);
    if (got == 0) break;
    filled += got;
  }
  position_ += filled;
  return filled;
}

std::size_t GzFile::copy(char* buffer, std::size_t room) {
  if (taken_ == packed_.size() && !refill()) return 0;
  const std::size_t count = std::min(room, packed_.size() - taken_);
  std::copy_n(packed_.data() + taken_, count, buffer);
  taken_ += count;
  return count;
}

std::size_t GzFile::inflate(char* buffer, std::size_t room) {
  stream_->next_out = reinterpret_cast<Bytef*>(buffer);
  stream_->avail_out = static_cast<uInt>(room);
  while (stream_->avail_out == room) {
    if (member_ended_ && !begin_member()) return 0;
    check<DataError>(taken_ < packed_.size() || refill(),
                     "{}: the gzip stream ends early: the file is truncated. Fetch it again.", path_);
    stream_->next_in = reinterpret_cast<Bytef*>(packed_.data() + taken_);
    stream_->avail_in = static_cast<uInt>(packed_.size() - taken_);
    const int code = ::inflate(stream_.get(), Z_NO_FLUSH);
    taken_ = packed_.size() - stream_->avail_in;
    member_ended_ = code == Z_STREAM_END;
    check<DataError>(code == Z_OK || member_ended_, "{}: the gzip stream is damaged: {}. Fetch it again.", path_,
                     stream_->msg == nullptr ? "out of memory" : stream_->msg);
  }
  return room - stream_->avail_out;
}

bool GzFile::begin_member() {
  while (true) {
    if (taken_ == packed_.size() && !refill()) return false;
    if (packed_[taken_] != '\0') break;
    ++taken_;
  }
  check<DataError>(
      packed_[taken_] == '\x1F',
      "{}: after what is gzipped stand bytes that are not: nobody would read them. Gzip them too, or remove them.",
      path_);
  member_ended_ = false;
  inflateReset(stream_.get());
  return true;
}

void GzFile::seek(std::uint64_t offset) {
  if (!begun_) begin();
  if (offset < position_ || plain()) {
    const off_t start = plain() ? static_cast<off_t>(offset) : 0;
    check<DataError>(::lseek(file_.get(), start, SEEK_SET) >= 0,
                     "cannot go back in '{}': it is not a regular file. Copy it into one.", path_);
    digest_.reset();
    packed_.clear();
    taken_ = 0;
    position_ = static_cast<std::uint64_t>(start);
    member_ended_ = false;
    if (!plain()) inflateReset(stream_.get());
  }
  std::vector<char> skipped(std::min<std::uint64_t>(offset - position_, packed_bytes));
  while (position_ < offset && read(skipped.data(), std::min<std::uint64_t>(skipped.size(), offset - position_)) > 0) {
  }
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

}  // namespace starling
