#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <sys/stat.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "core/check.hpp"
#include "core/memory/wipe.hpp"
#include "files/durable_file.hpp"
#include "privacy/identity/members.hpp"

namespace starling {

namespace {

struct FreeOfSigning {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  void operator()(BIO* memory) const { BIO_free_all(memory); }
};
using SecretHalf = std::unique_ptr<EVP_PKEY, FreeOfSigning>;
using SigningContext = std::unique_ptr<EVP_MD_CTX, FreeOfSigning>;
using SecureMemory = std::unique_ptr<BIO, FreeOfSigning>;

constexpr std::string_view key_type = "ssh-ed25519";
/// The form of OpenSSH: the length and the text of the type, then the length of the key, which follows.
constexpr std::size_t bytes_before_key = 4 + key_type.size() + 4;

void check_signing(bool done) {
  check<FailureError>(done, "Ed25519 failed in the cryptographic library: identities are made with it.");
}

const unsigned char* bytes_at(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string base64_of(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3), '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes_at(bytes), static_cast<int>(bytes.size()));
  return text;
}

std::string openssh_bytes(const PublicKey& key) {
  std::string bytes{0, 0, 0, static_cast<char>(key_type.size())};
  bytes.append(key_type);
  bytes.append({0, 0, 0, static_cast<char>(key.size())});
  bytes.append(key.begin(), key.end());
  return bytes;
}

void check_owner_alone(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;  // reading says why
  constexpr mode_t of_others = S_IRWXG | S_IRWXO;
  check((status.st_mode & of_others) == 0,
        "identity '{}' is open to others (mode {:04o}): whoever reads it can pass for its owner. Take their "
        "permissions away: chmod 600 '{}'",
        path, status.st_mode & 07777U, path);
}

/// A rank has nobody to ask.
int no_pass_phrase(char* /*place*/, int /*size*/, int /*writing*/, void* /*user*/) {
  return -1;
}

}  // namespace

struct SigningKey::State {
  SecretHalf key;
};

SigningKey::SigningKey(std::unique_ptr<State> state) : state_(std::move(state)) {}
SigningKey::~SigningKey() = default;
SigningKey::SigningKey(SigningKey&&) noexcept = default;
SigningKey& SigningKey::operator=(SigningKey&&) noexcept = default;

SigningKey SigningKey::random() {
  SecretHalf key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  check_signing(key != nullptr);
  return SigningKey(std::make_unique<State>(State{std::move(key)}));
}

SigningKey SigningKey::read(const std::string& path) {
  check_owner_alone(path);
  std::optional<std::string> text = read_whole_file(path);
  const int error = errno;
  check(text || error != ENOENT,
        "cannot read identity '{}': it is not there. Make one with 'starling keys make NAME', or name another.", path);
  check<FailureError>(text.has_value(), "cannot read identity '{}': {}. See to its permissions.", path,
                      std::strerror(error));
  const SecureMemory memory(BIO_new_mem_buf(text->data(), static_cast<int>(text->size())));
  check_signing(memory != nullptr);
  SecretHalf key(PEM_read_bio_PrivateKey(memory.get(), nullptr, no_pass_phrase, nullptr));
  wipe(*text);
  ERR_clear_error();
  check(key != nullptr && EVP_PKEY_get_id(key.get()) == EVP_PKEY_ED25519,
        "identity '{}' is no Ed25519 key without a pass phrase: nobody is there to ask for one. Make one with "
        "'starling keys make NAME'.",
        path);
  return SigningKey(std::make_unique<State>(State{std::move(key)}));
}

PublicKey SigningKey::public_key() const {
  PublicKey key{};
  std::size_t length = key.size();
  check_signing(EVP_PKEY_get_raw_public_key(state_->key.get(), key.data(), &length) == 1 && length == key.size());
  return key;
}

Signature SigningKey::sign(std::string_view text) const {
  Signature signature{};
  std::size_t length = signature.size();
  const SigningContext context(EVP_MD_CTX_new());
  check_signing(context != nullptr &&
                EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, state_->key.get()) == 1 &&
                EVP_DigestSign(context.get(), signature.data(), &length, bytes_at(text), text.size()) == 1 &&
                length == signature.size());
  return signature;
}

Secret<std::string> SigningKey::pem() const {
  const SecureMemory memory(BIO_new(BIO_s_secmem()));
  check_signing(memory != nullptr && PEM_write_bio_PKCS8PrivateKey(memory.get(), state_->key.get(), nullptr, nullptr, 0,
                                                                   nullptr, nullptr) == 1);
  char* place = nullptr;
  const long length = BIO_get_mem_data(memory.get(), &place);
  return Secret<std::string>(std::string(place, static_cast<std::size_t>(length)));
}

bool is_signed(const PublicKey& by, std::string_view text, const Signature& signature) {
  const SecretHalf key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, by.data(), by.size()));
  const SigningContext context(EVP_MD_CTX_new());
  check_signing(key != nullptr && context != nullptr &&
                EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1);
  const bool good =
      EVP_DigestVerify(context.get(), signature.data(), signature.size(), bytes_at(text), text.size()) == 1;
  if (!good) ERR_clear_error();
  return good;
}

std::string fingerprint_of_text(std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  check_signing(EVP_Digest(text.data(), text.size(), digest, &length, EVP_sha256(), nullptr) == 1);
  std::string base64 = base64_of({reinterpret_cast<const char*>(digest), length});
  base64.erase(base64.find_last_not_of('=') + 1);
  return "SHA256:" + base64;
}

std::string fingerprint_of(const PublicKey& key) {
  return fingerprint_of_text(openssh_bytes(key));
}

std::string words_of(const PublicKey& key) {
  return std::string(key_type) + " " + base64_of(openssh_bytes(key));
}

bool read_public_key(std::string_view base64, PublicKey& key) {
  constexpr std::size_t bytes = bytes_before_key + std::tuple_size_v<PublicKey>;
  static_assert(bytes % 3 == 0, "the text has no padding");
  if (base64.size() != bytes / 3 * 4) return false;
  std::array<unsigned char, bytes> read{};
  if (EVP_DecodeBlock(read.data(), bytes_at(base64), static_cast<int>(base64.size())) != static_cast<int>(bytes))
    return false;
  std::copy(read.begin() + bytes_before_key, read.end(), key.begin());
  return words_of(key) == std::string(key_type) + " " + std::string(base64);
}

}  // namespace starling
