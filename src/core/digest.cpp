#include "core/digest.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>

#include <openssl/evp.h>

#include "core/check.hpp"

namespace starling {

namespace {

void require_success(bool done) {
  check<FailureError>(done, "SHA-256 failed in the cryptographic library");
}

}  // namespace

std::string to_hex(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());  // growth would leave pieces of a key in freed memory
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

bool from_hex(std::string_view digits, std::span<unsigned char> bytes) {
  if (digits.size() != 2 * bytes.size()) return false;
  for (const char* from = digits.data(); unsigned char& byte : bytes) {
    const auto [end, error] = std::from_chars(from, from + 2, byte, 16);
    if (error != std::errc() || end != from + 2) return false;
    from = end;
  }
  return true;
}

std::string sha256(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  const int done = EVP_Digest(bytes.data(), bytes.size(), digest, &length, EVP_sha256(), nullptr);
  require_success(done == 1);
  return to_hex({reinterpret_cast<const char*>(digest), length});
}

struct Sha256::State {
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  EVP_MD_CTX* const context = state_->context.get();
  require_success(context != nullptr && EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1);
}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::add(std::string_view bytes) {
  require_success(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) == 1);
}

std::string Sha256::digest() const {
  const State copy;
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  require_success(copy.context != nullptr && EVP_MD_CTX_copy_ex(copy.context.get(), state_->context.get()) == 1 &&
                  EVP_DigestFinal_ex(copy.context.get(), digest, &length) == 1);
  return to_hex({reinterpret_cast<const char*>(digest), length});
}

std::string sha256_of_file(const std::string& path) {
  Sha256 sum;
  std::ifstream file(path, std::ios::binary);
  check(file.is_open(), "cannot open '{}': {}. Check the path and its permissions.", path, std::strerror(errno));
  std::string piece(std::size_t{1} << 20, '\0');
  while (file.good()) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    sum.add(std::string_view(piece).substr(0, static_cast<std::size_t>(file.gcount())));
  }
  check<FailureError>(file.eof(), "cannot read '{}': to take its SHA-256. Check its permissions and the disk.", path);
  return sum.digest();
}

}  // namespace starling
