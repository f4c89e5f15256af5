#include "line_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <zlib.h>

#include "starling/core/check.hpp"

namespace starling {

namespace {

constexpr std::size_t start_size = std::size_t{1} << 16;
constexpr std::size_t largest_read = std::size_t{1} << 24;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

}  // namespace

void LineReader::Closer::operator()(gzFile_s* file) const {
  gzclose_r(file);
}

LineReader::LineReader(std::string path) : path_(std::move(path)), buffer_(start_size) {
  errno = 0;
  file_.reset(gzopen(path_.c_str(), "rb"));
  check<DataError>(file_ != nullptr, "cannot open '{}' ({}) check the path and its permissions", path_,
                   errno == 0 ? "out of memory" : std::strerror(errno));
  gzbuffer(file_.get(), start_size);
}

bool LineReader::next(std::string_view& line) {
  std::size_t searched = begin_;
  while (true) {
    const char* data = buffer_.data();
    if (const void* newline = std::memchr(data + searched, '\n', end_ - searched)) {
      const auto position = static_cast<std::size_t>(static_cast<const char*>(newline) - data);
      line = take(position, position + 1);
      return true;
    }
    const std::size_t length = end_ - begin_;
    if (!fill()) {
      if (length == 0) return false;
      line = take(end_, end_);
      return true;
    }
    searched = begin_ + length;
  }
}

void LineReader::seek(const Mark& mark) {
  row_ = mark.row;
  if (mark.offset >= offset_ && mark.offset <= offset_ + end_) {
    begin_ = static_cast<std::size_t>(mark.offset - offset_);
    return;
  }
  errno = 0;
  if (gzseek(file_.get(), static_cast<z_off_t>(mark.offset), SEEK_SET) < 0) {
    check_stream();
    throw DataError(fmt::format("cannot go back in '{}' (it is not a regular file) copy it into one", path_));
  }
  offset_ = mark.offset;
  begin_ = end_ = 0;
}

std::string LineReader::where() const {
  return fmt::format("{}: row {}", path_, row_);
}

bool LineReader::fill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  offset_ += begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
  const auto room = static_cast<unsigned>(std::min(buffer_.size() - end_, largest_read));
  errno = 0;
  const int got = gzread(file_.get(), buffer_.data() + end_, room);
  if (got < static_cast<int>(room)) check_stream();
  if (got > 0) end_ += static_cast<std::size_t>(got);
  return got > 0;
}

void LineReader::check_stream() const {
  const int system_error = errno;
  int code = Z_OK;
  std::string_view text = gzerror(file_.get(), &code);
  if (code == Z_OK || code == Z_STREAM_END) return;
  check<DataError>(code != Z_ERRNO, "cannot read '{}' ({})", path_, std::strerror(system_error));
  check<DataError>(code != Z_BUF_ERROR, "{}: the gzip stream ends early (the file is truncated) fetch it again", path_);
  if (text.starts_with(path_)) text.remove_prefix(std::min(text.size(), path_.size() + 2));
  throw DataError(fmt::format("{}: the gzip stream is damaged ({}) fetch it again", path_, text));
}

std::string_view LineReader::take(std::size_t end, std::size_t next_begin) {
  std::string_view line(buffer_.data() + begin_, end - begin_);
  begin_ = next_begin;
  ++row_;
  if (row_ == 1 && line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace starling
