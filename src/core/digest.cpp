#include "starling/core/digest.hpp"

#include <openssl/evp.h>

#include "starling/core/check.hpp"

namespace starling {

std::string to_hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string sha256(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  const int done = EVP_Digest(bytes.data(), bytes.size(), digest, &length, EVP_sha256(), nullptr);
  check<FailureError>(done == 1, "SHA-256 failed in the cryptographic library");
  return to_hex({reinterpret_cast<const char*>(digest), length});
}

}  // namespace starling
