/// Members of a zip archive, as numpy.savez writes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "byte_source.hpp"

namespace starling {

/// An archive without encryption, below 4 GB.
class ZipFile {
 public:
  /// Reads the table of members. Throws UsageError where the file cannot be opened, and DataError.
  explicit ZipFile(std::string path);

  /// Names of the members, in the archive's order.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool has(const std::string& name) const;
  /// A member's bytes: a stored one is a part of the file, a deflated one is inflated in memory. Throws DataError.
  [[nodiscard]] std::unique_ptr<ByteSource> open(const std::string& name) const;

 private:
  struct Member {
    std::string name;
    unsigned flags = 0;
    unsigned method = 0;
    std::uint32_t checksum = 0;
    std::uint64_t packed = 0;  // bytes in the file
    std::uint64_t size = 0;
    std::uint64_t offset = 0;  // of the local header
  };
  void read_members(ByteSource& file);

  std::string path_;
  std::vector<Member> members_;
};

}  // namespace starling
