/// SHA-256 of public things (configurations, topologies, public sources): to compare them between ranks and runs.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace starling {

/// Of bytes that come in pieces. All throw FailureError if the cryptographic library fails.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();
  void add(std::string_view bytes);
  /// Of all that came so far, as 64 lower-case hexadecimal digits; more may come.
  [[nodiscard]] std::string digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// 64 lower-case hexadecimal digits. Throws FailureError if the cryptographic library fails.
[[nodiscard]] std::string sha256(std::string_view bytes);

/// The same of a file's content, read in pieces. Throws FailureError if it cannot be read.
[[nodiscard]] std::string sha256_of_file(const std::string& path);

[[nodiscard]] std::string to_hex(std::string_view bytes);

}  // namespace starling
