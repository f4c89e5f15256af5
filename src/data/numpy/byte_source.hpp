/// Bytes that are read from any place, of a file or in memory.
#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace starling {

/// Bytes with a known end.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Reads `count` bytes from `offset` on; all of them must be there. Throws DataError.
  virtual void read(std::uint64_t offset, std::size_t count, char* bytes) = 0;
  /// Bytes `offset` … `offset` + `count` − 1 as a text.
  [[nodiscard]] std::string text(std::uint64_t offset, std::size_t count) {
    std::string bytes(count, '\0');
    read(offset, count, bytes.data());
    return bytes;
  }
};

/// Part of a regular file.
class FileBytes final : public ByteSource {
 public:
  /// The whole file. Throws UsageError where it cannot be opened.
  explicit FileBytes(const std::string& path);
  FileBytes(const std::string& path, std::uint64_t first, std::uint64_t size);
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, std::size_t count, char* bytes) override;

 private:
  std::string path_;
  std::ifstream file_;
  std::uint64_t first_ = 0;
  std::uint64_t size_ = 0;
};

class MemoryBytes final : public ByteSource {
 public:
  explicit MemoryBytes(std::vector<char> bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, std::size_t count, char* bytes) override;

 private:
  std::vector<char> bytes_;
};

/// A file's bytes; of a gzipped file, decompressed in memory. Throws UsageError and DataError.
[[nodiscard]] std::unique_ptr<ByteSource> open_bytes(const std::string& path);

}  // namespace starling
