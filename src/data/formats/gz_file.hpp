/// Bytes of a file, plain or gzipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

struct gzFile_s;

namespace starling {

/// A source of bytes.
class Bytes {
 public:
  virtual ~Bytes() = default;
  /// Reads up to `room` bytes into `buffer`. Returns the number of bytes, 0 at the end only. Throws DataError.
  [[nodiscard]] virtual std::size_t read(void* buffer, std::size_t room) = 0;
  /// Goes to a position, in bytes from the start. Throws DataError.
  virtual void seek(std::uint64_t offset) = 0;
  /// Whether reading ended because the caller asked not to wait for more.
  [[nodiscard]] virtual bool interrupted() const { return false; }
  [[nodiscard]] virtual const std::string& path() const = 0;
};

/// Reads a file from its start; gzip is recognised by the content. Positions count bytes after decompression.
class GzFile final : public Bytes {
 public:
  /// Throws UsageError if the file cannot be opened: an option names it.
  explicit GzFile(std::string path);

  /// Fills `buffer` with up to `room` bytes; fewer only at the end of the file. Throws DataError if the file cannot be
  /// read, or if its gzip stream is truncated or damaged.
  [[nodiscard]] std::size_t read(void* buffer, std::size_t room) override;
  /// Goes to a position. Going back in a gzipped file reads the file from its start. Throws DataError.
  void seek(std::uint64_t offset) override;
  /// Whether the file is not compressed. Valid after the first read.
  [[nodiscard]] bool plain() const;
  [[nodiscard]] const std::string& path() const override { return path_; }

 private:
  struct Closer {
    void operator()(gzFile_s* file) const;
  };
  void check_stream() const;

  std::string path_;
  std::unique_ptr<gzFile_s, Closer> file_;
};

/// Throws UsageError if a file cannot be opened.
void require_readable(const std::string& path);

/// Whether a file's content is compressed. Throws as GzFile does.
[[nodiscard]] bool is_gzipped(const std::string& path);

}  // namespace starling
