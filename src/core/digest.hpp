/// SHA-256 digests of public data (configurations, topologies, public sources), for comparison between ranks and runs.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace starling {

/// Hexadecimal digits of a digest.
inline constexpr std::size_t digits_of_digest = 64;

/// Incremental SHA-256. All members throw FailureError if the cryptographic library fails.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();
  void add(std::string_view bytes);
  /// Digest of all bytes so far, as 64 lower-case hexadecimal digits. More bytes may follow.
  [[nodiscard]] std::string digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Digest of `bytes`, as 64 lower-case hexadecimal digits. Throws FailureError if the cryptographic library fails.
[[nodiscard]] std::string sha256(std::string_view bytes);

/// Digest of a file's content, read in pieces. Throws UsageError if it cannot be opened, and FailureError if it cannot
/// be read.
[[nodiscard]] std::string sha256_of_file(const std::string& path);

[[nodiscard]] std::string to_hex(std::string_view bytes);

/// Reads two hexadecimal digits, of either case, for each of `bytes`. Writes nowhere else: a key leaves no copy. False
/// for another number of digits, or for other characters.
[[nodiscard]] bool from_hex(std::string_view digits, std::span<unsigned char> bytes);

}  // namespace starling
