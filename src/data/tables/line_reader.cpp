#include "line_reader.hpp"

#include <algorithm>
#include <cstring>

#include "core/check.hpp"
#include "core/record_error.hpp"
#include "data/formats/first_reading.hpp"
#include "data/formats/pipe.hpp"
#include "files/text.hpp"

namespace starling {

namespace {

constexpr std::size_t start_size = std::size_t{1} << 16;

}  // namespace

LineReader::LineReader(const std::string& path, const ReadSettings& settings)
    : ahead_(!is_pipe(path)), buffer_(start_size) {
  if (!ahead_) {
    bytes_ = std::make_unique<Pipe>(path, settings.go_on_waiting);
    return;
  }
  auto file = std::make_unique<GzFile>(path);
  if (settings.first_reading)
    file->make_digest([path, first = settings.first_reading](const auto& digest) { first->note_digest(path, digest); });
  bytes_ = std::move(file);
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
      if (length == 0 || bytes_->interrupted()) return false;  // half a line is no record
      line = take(end_, end_);
      return true;
    }
    searched = begin_ + length;
  }
}

std::vector<std::string_view> LineReader::peek() {
  const std::size_t least = ahead_ ? 2 : 1;
  const auto text = [this] { return std::string_view(buffer_.data() + begin_, end_ - begin_); };
  const auto enough = [&] {
    const auto lines = static_cast<std::size_t>(std::ranges::count(text(), '\n'));
    return lines >= least && (!ahead_ || text().size() >= start_size);
  };
  bool at_end = false;
  while (!at_end && !enough()) at_end = !fill();
  std::vector<std::string_view> lines;
  for (std::size_t at = begin_; at < end_ && (ahead_ || lines.empty());) {
    const std::size_t newline = std::min(std::string_view(buffer_.data(), end_).find('\n', at), end_);
    if (newline == end_ && (!at_end || bytes_->interrupted())) break;
    lines.push_back(line_at(at, newline, row_ + static_cast<std::int64_t>(lines.size()) + 1));
    at = newline + 1;
  }
  return lines;
}

void LineReader::seek(const Mark& mark) {
  row_ = mark.row;
  if (mark.offset >= offset_ && mark.offset <= offset_ + end_) {
    begin_ = static_cast<std::size_t>(mark.offset - offset_);
    return;
  }
  bytes_->seek(mark.offset);
  offset_ = mark.offset;
  begin_ = end_ = 0;
}

std::string LineReader::where() const {
  return fmt::format("{}: row {}", path(), row_);
}

bool LineReader::fill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  offset_ += begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
  const std::size_t got = bytes_->read(buffer_.data() + end_, buffer_.size() - end_);
  end_ += got;
  return got > 0;
}

/// The text of a line, without a byte order mark and a carriage return.
std::string_view LineReader::line_at(std::size_t begin, std::size_t end, std::int64_t row) const {
  std::string_view line(buffer_.data() + begin, end - begin);
  if (row == 1 && line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view LineReader::take(std::size_t end, std::size_t next_begin) {
  const std::string_view line = line_at(begin_, end, ++row_);
  begin_ = next_begin;
  if (const auto fault = text_fault(line)) throw RecordError(where() + ": " + *fault);
  return line;
}

}  // namespace starling
