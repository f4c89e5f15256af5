/// Bytes of a file, plain or gzipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/digest.hpp"
#include "files/durable_file.hpp"

struct z_stream_s;

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

/// Reads a file from its start; gzip is recognised by the content. Positions count bytes after decompression. A gzipped
/// file may have several members, and zeros after the last one. (zlib's gzread would leave out other bytes there.)
class GzFile final : public Bytes {
 public:
  /// Throws UsageError if the file cannot be opened: an option names it.
  explicit GzFile(std::string path);

  /// Fills `buffer` with up to `room` bytes; fewer only at the end of the file. Throws DataError if the file cannot be
  /// read, if its gzip stream is truncated or damaged, and if bytes that are not gzipped follow it.
  [[nodiscard]] std::size_t read(void* buffer, std::size_t room) override;
  /// Goes to a position. Going back in a gzipped file reads the file from its start. Throws DataError.
  void seek(std::uint64_t offset) override;
  /// Whether the file is not compressed. Valid after the first read.
  [[nodiscard]] bool plain() const { return stream_ == nullptr; }
  [[nodiscard]] const std::string& path() const override { return path_; }
  /// Calls `note` at the end of the file with the SHA-256 of its bytes, if they are read from the start on.
  void make_digest(std::function<void(const std::string&)> note);

 private:
  struct End {
    void operator()(z_stream_s* stream) const;
  };
  /// Looks at the first bytes.
  void begin();
  /// Reads more of the file into `packed_`; false at its end.
  [[nodiscard]] bool refill();
  // Both give fewer bytes than `room`, and 0 at the end of the file only.
  [[nodiscard]] std::size_t copy(char* buffer, std::size_t room);
  [[nodiscard]] std::size_t inflate(char* buffer, std::size_t room);
  /// Whether another member begins, after one has ended.
  [[nodiscard]] bool begin_member();

  std::string path_;
  Descriptor file_;
  std::vector<char> packed_;      // what has been read
  std::size_t taken_ = 0;         // of packed_
  std::uint64_t position_ = 0;    // in bytes after decompression
  std::optional<Sha256> digest_;  // of what has been read
  std::function<void(const std::string&)> note_digest_;
  bool begun_ = false;
  bool member_ended_ = false;
  std::unique_ptr<z_stream_s, End> stream_;  // none of a plain file
};

/// Throws UsageError if a file cannot be opened.
void require_readable(const std::string& path);

/// Whether a file's content is compressed. Throws as GzFile does.
[[nodiscard]] bool is_gzipped(const std::string& path);

}  // namespace starling
