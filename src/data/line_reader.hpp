/// Lines of a text file, plain or gzipped. Internal to the data room.
#pragma once

#include "gz_file.hpp"
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "starling/data/source.hpp"

namespace starling {

/// Reads lines of any length into one reused buffer; a carriage return before the newline, a byte order mark at the
/// start and a last line without newline are all taken as they are meant.
class LineReader {
 public:
  /// Throws DataError if the file cannot be opened.
  explicit LineReader(std::string path);

  /// The next line without its end; false at the end of the file. The view holds until the next call. Throws DataError
  /// if the file cannot be read or its gzip stream is truncated or damaged.
  [[nodiscard]] bool next(std::string_view& line);

  [[nodiscard]] const std::string& path() const { return file_.path(); }

  /// The start of the next line, as a place to go back to.
  [[nodiscard]] Mark mark() const { return {offset_ + begin_, row_}; }
  /// Goes there. Going back in a gzipped file reads it from its start. Throws DataError.
  void seek(const Mark& mark);
  /// "FILE: row N", N being the number of the last line in the file, from 1, whatever the lines before it held.
  [[nodiscard]] std::string where() const;

 private:
  [[nodiscard]] bool fill();
  [[nodiscard]] std::string_view take(std::size_t end, std::size_t next_begin);

  GzFile file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of what has been read and not yet given out
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;  // of the buffer in the file's text
  std::int64_t row_ = 0;
};

}  // namespace starling
