#include "seal.hpp"

#include <algorithm>
#include <cstring>

#include <openssl/evp.h>

#include "core/check.hpp"

namespace starling {

namespace {

constexpr std::size_t nonce_size = 12;
constexpr std::size_t start_size = 32;
/// Start of the run, sender, receiver, kind and round.
constexpr std::size_t head_size = start_size + 4 + 4 + 1 + 8;

struct FreeSealContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using SealContext = std::unique_ptr<EVP_CIPHER_CTX, FreeSealContext>;

void check_seal(bool done) {
  check<FailureError>(done, "a cipher failed in the cryptographic library: messages are sealed with it.");
}

unsigned char* bytes_of(std::span<std::byte> bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}
const unsigned char* bytes_of(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

void put(unsigned char* place, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) place[i] = static_cast<unsigned char>(value >> (8 * i));
}

SealContext context_for(const SealKey& key, bool by_aes, bool closes) {
  SealContext context(EVP_CIPHER_CTX_new());
  const EVP_CIPHER* const cipher = by_aes ? EVP_aes_256_gcm() : EVP_chacha20_poly1305();
  check_seal(context != nullptr &&
             EVP_CipherInit_ex(context.get(), cipher, nullptr, key.bytes.data(), nullptr, closes ? 1 : 0) == 1);
  return context;
}

/// One direction between two ranks.
struct Direction {
  SealContext context;
  std::array<std::uint64_t, message_kinds> next{};  ///< numbers of the next messages, by kind
  std::array<unsigned char, head_size> head{};

  void begin(MessageKind kind, Round round) {
    std::array<unsigned char, nonce_size> nonce{};
    nonce[0] = static_cast<unsigned char>(kind);
    put(nonce.data() + 4, next[static_cast<std::size_t>(kind)]++, sizeof(std::uint64_t));
    head[start_size + 8] = static_cast<unsigned char>(kind);
    put(head.data() + start_size + 9, static_cast<std::uint64_t>(round), sizeof(std::uint64_t));
    int length = 0;
    check_seal(EVP_CipherInit_ex(context.get(), nullptr, nullptr, nullptr, nonce.data(), -1) == 1 &&
               EVP_CipherUpdate(context.get(), nullptr, &length, head.data(), static_cast<int>(head.size())) == 1);
  }
  /// Writes as many bytes as it reads; the library counts in an int.
  void pass(const unsigned char* from, unsigned char* to, std::size_t size) {
    constexpr std::size_t most = std::size_t{1} << 30;
    for (std::size_t done = 0; done < size;) {
      const std::size_t count = std::min(most, size - done);
      int length = 0;
      check_seal(EVP_CipherUpdate(context.get(), to + done, &length, from + done, static_cast<int>(count)) == 1 &&
                 length == static_cast<int>(count));
      done += count;
    }
  }
};

void write_head(Direction& direction, const SealTerms& terms, int from, int to) {
  std::copy(terms.start.begin(), terms.start.end(), direction.head.begin());
  put(direction.head.data() + start_size, static_cast<std::uint64_t>(from), 4);
  put(direction.head.data() + start_size + 4, static_cast<std::uint64_t>(to), 4);
}

}  // namespace

bool has_aes() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("aes") != 0 && __builtin_cpu_supports("pclmul") != 0;
#else
  return false;
#endif
}

struct Seal::Peer {
  Direction out;
  Direction in;
};

Seal::Seal(SealTerms terms, int rank) : terms_(std::move(terms)), rank_(rank) {
  for (int r = 0; r < static_cast<int>(terms_.names.size()); ++r) {
    std::unique_ptr<Peer>& peer = peers_.emplace_back();
    if (r == rank_ || (is_on_this_host(r) && !terms_.within_hosts)) continue;
    const auto at = static_cast<std::size_t>(r);
    peer = std::make_unique<Peer>();
    peer->out.context = context_for(terms_.to[at], terms_.by_aes, true);
    peer->in.context = context_for(terms_.from[at], terms_.by_aes, false);
    write_head(peer->out, terms_, rank_, r);
    write_head(peer->in, terms_, r, rank_);
  }
  terms_.to.clear();
  terms_.from.clear();
}

Seal::~Seal() = default;

bool Seal::is_on_this_host(int peer) const {
  return terms_.hosts[static_cast<std::size_t>(peer)] == terms_.hosts[static_cast<std::size_t>(rank_)];
}

void Seal::close(MessageKind kind, int to, Round round, std::span<const std::byte> plain, std::span<std::byte> way) {
  if (!seals(to)) {
    std::copy(plain.begin(), plain.end(), way.begin());
    return;
  }
  Direction& out = peers_[static_cast<std::size_t>(to)]->out;
  out.begin(kind, round);
  out.pass(bytes_of(plain), bytes_of(way), plain.size());
  int length = 0;
  unsigned char* const tag = bytes_of(way) + plain.size();
  check_seal(EVP_CipherFinal_ex(out.context.get(), tag, &length) == 1 && length == 0 &&
             EVP_CIPHER_CTX_ctrl(out.context.get(), EVP_CTRL_AEAD_GET_TAG, tag_size, tag) == 1);
}

void Seal::open(MessageKind kind, int from, Round round, std::span<const std::byte> way, std::span<std::byte> plain) {
  if (way.size() != size(from, plain.size())) {
    if (seals(from)) ++peers_[static_cast<std::size_t>(from)]->in.next[static_cast<std::size_t>(kind)];
    refuse(from);
  }
  if (!seals(from)) {
    std::copy(way.begin(), way.end(), plain.begin());
    return;
  }
  Direction& in = peers_[static_cast<std::size_t>(from)]->in;
  in.begin(kind, round);
  std::array<unsigned char, tag_size> tag;
  std::memcpy(tag.data(), bytes_of(way) + plain.size(), tag_size);
  in.pass(bytes_of(way), bytes_of(plain), plain.size());
  int length = 0;
  unsigned char none = 0;
  const bool good = EVP_CIPHER_CTX_ctrl(in.context.get(), EVP_CTRL_AEAD_SET_TAG, tag_size, tag.data()) == 1 &&
                    EVP_CipherFinal_ex(in.context.get(), &none, &length) == 1;
  if (good) return;
  std::fill(plain.begin(), plain.end(), std::byte{0});
  refuse(from);
}

void Seal::refuse(int from) const {
  fail<FailureError>(
      "a message from {} to {} is not the one that was sealed for this place: somebody on its way forged, repeated, "
      "moved, cut or left out messages. Nothing was read from it. Find out who is on the network between them.",
      terms_.names[static_cast<std::size_t>(from)], terms_.names[static_cast<std::size_t>(rank_)]);
}

void Seal::refuse_silence(int from) const {
  fail<FailureError>(
      "a message from {} to {} was sent and did not come: somebody on its way left it out or holds it back. Find out "
      "who is on the network between them.",
      terms_.names[static_cast<std::size_t>(from)], terms_.names[static_cast<std::size_t>(rank_)]);
}

std::uint64_t Seal::sent(MessageKind kind, int to) const {
  return peers_[static_cast<std::size_t>(to)]->out.next[static_cast<std::size_t>(kind)];
}

std::uint64_t Seal::came(MessageKind kind, int from) const {
  return peers_[static_cast<std::size_t>(from)]->in.next[static_cast<std::size_t>(kind)];
}

std::vector<std::byte> Seal::closed(MessageKind kind, int to, Round round, std::span<const std::byte> plain) {
  std::vector<std::byte> way(size(to, plain.size()));
  close(kind, to, round, plain, way);
  return way;
}

std::vector<std::byte> Seal::opened(MessageKind kind, int from, Round round, std::span<const std::byte> way) {
  const std::size_t behind = seals(from) ? tag_size : 0;
  std::vector<std::byte> plain(way.size() - std::min(way.size(), behind));
  open(kind, from, round, way, plain);
  return plain;
}

}  // namespace starling
