#include "byte_source.hpp"

#include <algorithm>

#include "core/check.hpp"
#include "data/formats/gz_file.hpp"

namespace starling {

FileBytes::FileBytes(const std::string& path) : path_(path), file_(path, std::ios::binary) {
  require_readable(path);
  file_.seekg(0, std::ios::end);
  const auto end = file_.tellg();
  check<DataError>(file_.good() && end >= 0, "cannot read '{}': it is no regular file. Copy it into one.", path);
  size_ = static_cast<std::uint64_t>(end);
}

FileBytes::FileBytes(const std::string& path, std::uint64_t first, std::uint64_t size) : FileBytes(path) {
  check<DataError>(first <= size_ && size <= size_ - first, "{}: it ends early (truncated). Fetch it again.", path);
  first_ = first;
  size_ = size;
}

void FileBytes::read(std::uint64_t offset, std::size_t count, char* bytes) {
  check<DataError>(offset <= size_ && count <= size_ - offset, "{}: it ends early (truncated). Fetch it again.", path_);
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(first_ + offset));
  file_.read(bytes, static_cast<std::streamsize>(count));
  check<DataError>(static_cast<std::size_t>(file_.gcount()) == count, "cannot read '{}'. Fetch it again.", path_);
}

void MemoryBytes::read(std::uint64_t offset, std::size_t count, char* bytes) {
  check<DataError>(offset <= bytes_.size() && count <= bytes_.size() - offset, "the array ends early. Write it again.");
  std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), count, bytes);
}

std::unique_ptr<ByteSource> open_bytes(const std::string& path) {
  if (!is_gzipped(path)) return std::make_unique<FileBytes>(path);
  constexpr std::size_t piece = std::size_t{1} << 20;
  GzFile file(path);
  std::vector<char> bytes;
  std::size_t got = piece;
  while (got == piece) {
    const std::size_t filled = bytes.size();
    bytes.resize(filled + piece);
    got = file.read(bytes.data() + filled, piece);
    bytes.resize(filled + got);
  }
  return std::make_unique<MemoryBytes>(std::move(bytes));
}

}  // namespace starling
