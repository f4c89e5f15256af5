#include "privacy/mechanism/masking.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include <openssl/err.h>
#include <openssl/rand.h>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "core/memory/wipe.hpp"
#include "privacy/keys/cipher.hpp"
#include "privacy/keys/keyed_hash.hpp"

namespace starling {

namespace {

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
};
using Key = std::unique_ptr<EVP_PKEY, Free>;

void check_done(bool done) {
  check<FailureError>(done, "X25519 or ChaCha20 failed in the cryptographic library: masks are made with them.");
}

Key private_key(const MaskKey::Bytes& bytes) {
  Key key(EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, bytes.data(), bytes.size()));
  check_done(key != nullptr);
  return key;
}

/// Computes the secret that the two clients of a pair share. False where the other's key is of low order: the secret is
/// then zero whatever the private key (RFC 7748, section 6.1), and known to all.
bool agree(EVP_PKEY* own, const MaskKey::Bytes& other, SecretBytes<32>& secret) {
  const Key peer(EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr, other.data(), other.size()));
  const std::unique_ptr<EVP_PKEY_CTX, Free> context(EVP_PKEY_CTX_new(own, nullptr));
  check_done(peer != nullptr && context != nullptr && EVP_PKEY_derive_init(context.get()) == 1 &&
             EVP_PKEY_derive_set_peer(context.get(), peer.get()) == 1);
  std::size_t length = secret.bytes.size();
  const bool derived = EVP_PKEY_derive(context.get(), secret.bytes.data(), &length) == 1;
  if (!derived) ERR_clear_error();
  unsigned char any = 0;
  for (const unsigned char byte : secret.bytes) any = static_cast<unsigned char>(any | byte);
  return derived && length == secret.bytes.size() && any != 0;
}

/// The mask key of the pair u < v.
NoiseKey pair_key(const SecretBytes<32>& secret, const std::string& run_id, Client u, Client v,
                  const std::vector<MaskKey::Bytes>& public_keys) {
  return KeyedHash(secret.bytes, "starling pair mask 1")
      .text(run_id)
      .integer(u)
      .integer(v)
      .bytes(public_keys[static_cast<std::size_t>(u)])
      .bytes(public_keys[static_cast<std::size_t>(v)])
      .finish();
}

constexpr std::size_t digits_of_group = 4;
constexpr std::size_t groups_of_key = 6;
constexpr std::size_t groups_of_list = 10;

/// The first digits of a digest, as people read them to each other.
std::string in_groups(const std::string& digest, std::size_t groups) {
  std::string text;
  for (std::size_t i = 0; i < groups; ++i)
    text += (i == 0 ? "" : "-") + digest.substr(i * digits_of_group, digits_of_group);
  return text;
}

std::string text_of(const MaskKey::Bytes& key) {
  return {key.begin(), key.end()};
}

/// The key of 64 hexadecimal digits.
MaskKey::Bytes bytes_of(std::string_view hex) {
  MaskKey::Bytes bytes{};
  check<DataError>(from_hex(hex, bytes),
                   "what came as a public key is none: whoever relays them changed it. Do not go on.");
  return bytes;
}

/// Words of a keystream on their way into a sum; wiped when they go.
struct Block {
  static constexpr std::size_t size = 1024;
  std::array<std::uint64_t, size> words{};
  ~Block() { wipe(words); }
};

}  // namespace

MaskKey::MaskKey(const Bytes& secret) : secret_(secret) {
  std::size_t length = public_.size();
  check_done(EVP_PKEY_get_raw_public_key(private_key(secret_).get(), public_.data(), &length) == 1 &&
             length == public_.size());
}

MaskKey::~MaskKey() {
  wipe(secret_);
}

MaskKey::MaskKey(MaskKey&& other) noexcept : secret_(other.secret_), public_(other.public_) {
  wipe(other.secret_);
}

MaskKey& MaskKey::operator=(MaskKey&& other) noexcept {
  if (this == &other) return *this;
  secret_ = other.secret_;
  public_ = other.public_;
  wipe(other.secret_);
  return *this;
}

MaskKey MaskKey::random() {
  SecretBytes<32> secret;
  check<FailureError>(RAND_priv_bytes(secret.bytes.data(), static_cast<int>(secret.bytes.size())) == 1,
                      "no random bytes from the operating system: the key of the masks is made of them.");
  return MaskKey(secret.bytes);
}

MaskKey MaskKey::derived(const NoiseKey& key, const std::string& run_id) {
  SecretBytes<32> secret;
  KeyedHash(key.bytes(), "starling mask key 1").text(run_id).finish(secret.bytes);
  return MaskKey(secret.bytes);
}

NoiseKey MaskKey::common_key(const Bytes& other, std::string_view purpose) const {
  SecretBytes<32> secret;
  check(agree(private_key(secret_).get(), other, secret),
        "a public key is of low order: anybody could compute what it leads to. Do not go on.");
  const auto [first, second] = std::minmax(public_, other);
  return KeyedHash(secret.bytes, "starling common key 1").text(purpose).bytes(first).bytes(second).finish();
}

std::string fingerprint(const MaskKey::Bytes& public_key) {
  return in_groups(sha256(text_of(public_key)), groups_of_key);
}

std::string fingerprint(const std::vector<MaskKey::Bytes>& public_keys) {
  std::string all;
  for (const MaskKey::Bytes& key : public_keys) all += text_of(key);
  return in_groups(sha256(all), groups_of_list);
}

std::vector<MaskKey::Bytes> received_keys(const std::vector<MaskKey>& own, const KeyRelay& relay) {
  constexpr std::size_t digits = 2 * sizeof(MaskKey::Bytes);
  std::string text;
  for (const MaskKey& key : own) text += to_hex(text_of(key.public_key()));
  std::vector<MaskKey::Bytes> all;
  for (const std::string& of_rank : relay(text)) {
    check<DataError>(of_rank.size() % digits == 0,
                     "{} digits came as public keys: each has {}; whoever relays them changed them. Do not go on.",
                     of_rank.size(), digits);
    for (std::size_t at = 0; at < of_rank.size(); at += digits) all.push_back(bytes_of(of_rank.substr(at, digits)));
  }
  return all;
}

std::string list_of_keys(const std::vector<MaskKey::Bytes>& public_keys, const std::string& use) {
  std::string text = fmt::format(
      "# public keys of the {}, as the clients of this rank received them; compare with the other clients by another "
      "way\n# fingerprint of the list {}\nclient,fingerprint,key\n",
      use, fingerprint(public_keys));
  for (std::size_t u = 0; u < public_keys.size(); ++u) {
    text += fmt::format("{},{},{}\n", u, fingerprint(public_keys[u]), to_hex(text_of(public_keys[u])));
  }
  return text;
}

struct Masker::State {
  struct Pair {
    NoiseKey key;
    bool adds;  ///< of the two, the client with the lower number
  };
  void apply(const Pair& pair, const std::array<unsigned char, 16>& address, std::span<std::uint64_t> words);

  std::vector<Pair> pairs;
  CipherContext cipher{EVP_CIPHER_CTX_new()};
};

Masker::Masker(const MaskKey& key, Client client, const std::vector<MaskKey::Bytes>& public_keys,
               const std::string& run_id)
    : state_(std::make_unique<State>()) {
  const auto clients = static_cast<Client>(public_keys.size());
  check(client >= 0 && client < clients, "client {} of {}: masks need everybody's public key.", client, clients);
  check(public_keys[static_cast<std::size_t>(client)] == key.public_key(),
        "the public key of client {} came back changed: whoever relays the keys may have exchanged it. Do not go on.",
        client);
  check(std::set<MaskKey::Bytes>(public_keys.begin(), public_keys.end()).size() == public_keys.size(),
        "two clients have the same public key: their masks could be computed by both. Give each client a key of its "
        "own.");
  check_done(state_->cipher != nullptr);
  const Key own = private_key(key.secret_);
  for (Client other = 0; other < clients; ++other) {
    if (other == client) continue;
    SecretBytes<32> secret;
    check(
        agree(own.get(), public_keys[static_cast<std::size_t>(other)], secret),
        "the public key of client {} is of low order: anybody could compute the masks that it leads to. Do not go on.",
        other);
    state_->pairs.push_back(
        {pair_key(secret, run_id, std::min(client, other), std::max(client, other), public_keys), client < other});
  }
}

Masker::~Masker() = default;
Masker::Masker(Masker&&) noexcept = default;
Masker& Masker::operator=(Masker&&) noexcept = default;

void Masker::mask(Round round, std::uint32_t index, std::span<std::uint64_t> words) {
  check<FailureError>(words.size() <= std::size_t{1} << 34, "{} words to be masked at once: 2^34 at most.",
                      words.size());
  std::array<unsigned char, 16> address{};  // block counter 0, then the nonce: index and round, little-endian
  for (std::size_t i = 0; i < 4; ++i) address[4 + i] = static_cast<unsigned char>(index >> (8 * i));
  for (std::size_t i = 0; i < 8; ++i) {
    address[8 + i] = static_cast<unsigned char>(static_cast<std::uint64_t>(round) >> (8 * i));
  }
  for (const State::Pair& pair : state_->pairs) state_->apply(pair, address, words);
}

void Masker::State::apply(const Pair& pair, const std::array<unsigned char, 16>& address,
                          std::span<std::uint64_t> words) {
  static constexpr std::array<unsigned char, Block::size * sizeof(std::uint64_t)> zeros{};
  check_done(EVP_EncryptInit_ex(cipher.get(), EVP_chacha20(), nullptr, pair.key.bytes().data(), address.data()) == 1);
  Block block;
  for (std::size_t done = 0; done < words.size(); done += Block::size) {
    const std::size_t count = std::min(Block::size, words.size() - done);
    const int wanted = static_cast<int>(count * sizeof(std::uint64_t));
    int length = 0;
    check_done(EVP_EncryptUpdate(cipher.get(), reinterpret_cast<unsigned char*>(block.words.data()), &length,
                                 zeros.data(), wanted) == 1 &&
               length == wanted);
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t word = block.words[i];
      if constexpr (std::endian::native != std::endian::little) word = __builtin_bswap64(word);
      words[done + i] += pair.adds ? word : 0 - word;
    }
  }
}

}  // namespace starling
