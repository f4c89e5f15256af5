#include "privacy/keys/keys.hpp"

#include <cstring>
#include <fstream>

#include <openssl/evp.h>
#include <openssl/rand.h>

#include "cipher.hpp"
#include "core/check.hpp"
#include "core/digest.hpp"
#include "core/memory/wipe.hpp"
#include "keyed_hash.hpp"

namespace starling {

namespace {

CipherContext chacha20_context() {
  CipherContext context(EVP_CIPHER_CTX_new());
  check_cipher(context != nullptr &&
               EVP_EncryptInit_ex2(context.get(), EVP_chacha20(), nullptr, nullptr, nullptr) == 1);
  return context;
}

/// Little-endian.
std::array<unsigned char, 16> two_numbers(std::uint64_t first, std::uint64_t second) {
  std::array<unsigned char, 16> bytes;
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<unsigned char>(first >> (8 * i));
    bytes[8 + i] = static_cast<unsigned char>(second >> (8 * i));
  }
  return bytes;
}

std::string hex_of(std::span<const unsigned char> bytes) {
  return to_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

/// A key file's content, at most one byte more than the longest permitted content; wiped on destruction.
struct KeyText {
  std::array<char, 67> bytes{};
  std::size_t size = 0;
  ~KeyText() { wipe(bytes); }
};

void load(const std::string& path, KeyText& text) {
  std::ifstream file;
  file.rdbuf()->pubsetbuf(nullptr, 0);  // no copy of the key in a buffer that nobody wipes
  file.open(path, std::ios::binary);
  check(file.is_open() || errno != ENOENT, "cannot read noise key file '{}': it is not there. Name another.", path);
  check<FailureError>(file.is_open(), "cannot read noise key file '{}': {}. See to its permissions.", path,
                      std::strerror(errno));
  file.read(text.bytes.data(), static_cast<std::streamsize>(text.bytes.size()));
  text.size = static_cast<std::size_t>(file.gcount());
  check<FailureError>(!file.bad(), "cannot read noise key file '{}': {}. See to its permissions.", path,
                      std::strerror(errno));
}

/// Length without one line end.
std::size_t line_length(std::string_view text) {
  if (text.ends_with("\r\n")) return text.size() - 2;
  return text.ends_with('\n') ? text.size() - 1 : text.size();
}

}  // namespace

struct ReleaseKeys::State {
  static constexpr std::uint64_t at_once = 16;
  /// The blocks of consecutive rounds that do not cross a multiple of 2^32: the cipher's counter has 32 bits.
  struct Row {
    NoiseKey run_key{NoiseKey::Bytes{}};
    std::uint64_t place = 0;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    SecretBytes<at_once * size> blocks;
  };

  void fill(Row& row, const NoiseKey& run_key, std::uint64_t first, std::uint64_t count, std::uint64_t place) {
    static constexpr std::array<unsigned char, at_once * size> zeros{};
    if (!context) context = chacha20_context();
    if (row.count > 1) wipe(row.blocks.bytes);
    row.count = 0;  // nothing is there until all of it is
    row.run_key = run_key;
    row.place = place;
    row.first = first;
    const int wanted = static_cast<int>(count * size);
    int length = 0;
    check_cipher(EVP_EncryptInit_ex2(context.get(), nullptr, run_key.bytes().data(), two_numbers(first, place).data(),
                                     nullptr) == 1 &&
                 EVP_EncryptUpdate(context.get(), row.blocks.bytes.data(), &length, zeros.data(), wanted) == 1 &&
                 length == wanted);
    row.count = count;
  }

  std::array<Row, 8> rows;
  CipherContext context;
};

ReleaseKeys::ReleaseKeys() : state_(std::make_unique<State>()) {}
ReleaseKeys::~ReleaseKeys() = default;

ReleaseKeys::Block ReleaseKeys::of(const NoiseKey& run_key, const ReleaseAddress& address) {
  // The place is never 0, as it is in the stream of the run key itself.
  const std::uint64_t place = (std::uint64_t{address.block} << 32) + address.index + 1;
  const auto round = static_cast<std::uint64_t>(address.round);
  State::Row& row = state_->rows[(static_cast<std::uint64_t>(address.client) + place) % state_->rows.size()];
  const bool same = row.place == place && std::ranges::equal(row.run_key.bytes(), run_key.bytes());
  if (!same || round - row.first >= row.count) {
    constexpr std::uint64_t window = State::at_once;
    const bool follows = same && round / window - row.first / window <= 1;
    state_->fill(row, run_key, follows ? round / window * window : round, follows ? window : 1, place);
  }
  return std::span<const unsigned char>(row.blocks.bytes).subspan((round - row.first) * size).first<size>();
}

NoiseKey::~NoiseKey() {
  wipe(bytes_);
}

NoiseKey NoiseKey::random() {
  NoiseKey key{Bytes{}};
  check<FailureError>(RAND_priv_bytes(key.bytes_.data(), static_cast<int>(key.bytes_.size())) == 1,
                      "no random bytes from the operating system: the noise key is made of them.");
  return key;
}

NoiseKey NoiseKey::from_seed(std::uint64_t seed, Client client) {
  Bytes key{};
  for (std::size_t i = 0; i < sizeof seed; ++i) key[i] = static_cast<unsigned char>(seed >> (8 * i));
  return KeyedHash(key, "starling noise key from seed 1").integer(client).finish();
}

NoiseKey NoiseKey::read(const std::string& path) {
  KeyText text;
  load(path, text);
  NoiseKey key{Bytes{}};
  const std::string_view content(text.bytes.data(), text.size);
  if (content.size() == key.bytes_.size()) {
    std::memcpy(key.bytes_.data(), content.data(), content.size());
  } else {
    check(from_hex(content.substr(0, line_length(content)), key.bytes_),
          "noise key file '{}' is not a key: it must hold 64 hexadecimal digits or exactly 32 raw bytes. Make one with "
          "'openssl rand -hex 32'",
          path);
  }
  return key;
}

std::string NoiseKey::commitment(std::string_view run_id) const {
  return hex_of(KeyedHash(bytes_, "starling noise key commitment 1").text(run_id).finish().bytes());
}

std::string NoiseKey::hex() const {
  return hex_of(bytes_);
}

NoiseKey NoiseKey::for_run(std::string_view run_id) const {
  return KeyedHash(bytes_, "starling noise key of a run 1").text(run_id).finish();
}

StreamStart::~StreamStart() {
  wipe(counter_and_nonce);
}

StreamStart release_stream(ReleaseKeys& keys, const NoiseKey& run_key, std::string_view run_id,
                           const ReleaseAddress& address, std::string_view mechanism, double scale, double step,
                           std::span<const std::int64_t> integers) {
  const ReleaseKeys::Block block = keys.of(run_key, address);
  StreamStart start{NoiseKey(block.first<32>())};
  KeyedHash::poly1305(block.last<32>())
      .integer(address.client)
      .real(scale)
      .real(step)
      .text(run_id)
      .text(mechanism)
      .integers(integers)
      .finish(start.counter_and_nonce);
  start.counter_and_nonce[3] &= 0x7f;
  return start;
}

}  // namespace starling
