#include "starling/core/digest.hpp"

#include <fstream>
#include <memory>
#include <vector>

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

std::string sha256_of_file(const std::string& path) {
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  bool done = context != nullptr && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  std::ifstream file(path, std::ios::binary);
  std::vector<char> piece(std::size_t{1} << 20);
  while (done && file.good()) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    done = EVP_DigestUpdate(context.get(), piece.data(), static_cast<std::size_t>(file.gcount())) == 1;
  }
  check<FailureError>(file.eof(), "cannot read '{}' (to take its SHA-256) check its permissions and the disk", path);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  done = done && EVP_DigestFinal_ex(context.get(), digest, &length) == 1;
  check<FailureError>(done, "SHA-256 failed in the cryptographic library");
  return to_hex({reinterpret_cast<const char*>(digest), length});
}

}  // namespace starling
