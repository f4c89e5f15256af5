/// Lines of a text file, plain or gzipped, or of a pipe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/formats/gz_file.hpp"
#include "data/source.hpp"

namespace starling {

/// Reads lines of any length into one reused buffer. Lines are UTF-8, as files/text.hpp requires; the last line may
/// lack its line feed.
class LineReader {
 public:
  /// Opens a file, or a pipe that is read as data arrives (pipe.hpp). Throws UsageError if the file cannot be opened.
  explicit LineReader(const std::string& path, const ReadSettings& settings = {});

  /// The next line without its end; false at the end of the file. The view holds until the next call. Throws DataError
  /// if the file cannot be read, its gzip stream is truncated or damaged, or the line is not UTF-8 text.
  [[nodiscard]] bool next(std::string_view& line);

  /// The lines that come next, without their ends, which stay to be read: of a file those in its next 64 kB and at
  /// least two, of a pipe one. They may be no text. The views hold until a line beyond them is read. Throws DataError
  /// as `next` does for the file.
  [[nodiscard]] std::vector<std::string_view> peek();

  [[nodiscard]] const std::string& path() const { return bytes_->path(); }

  /// Start of the next line, as a position for a later return.
  [[nodiscard]] Mark mark() const { return {offset_ + begin_, row_}; }
  /// Goes to a position. Going back in a gzipped file reads the file from its start. Throws DataError.
  void seek(const Mark& mark);
  /// "FILE: row N", N being the number of the last line in the file, from 1, whatever the lines before it held.
  [[nodiscard]] std::string where() const;

 private:
  [[nodiscard]] bool fill();
  [[nodiscard]] std::string_view line_at(std::size_t begin, std::size_t end, std::int64_t row) const;
  [[nodiscard]] std::string_view take(std::size_t end, std::size_t next_begin);

  std::unique_ptr<Bytes> bytes_;
  bool ahead_;  // whether more may be read than is asked for
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of what has been read and not yet given out
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;  // of the buffer in the file's text
  std::int64_t row_ = 0;
};

}  // namespace starling
