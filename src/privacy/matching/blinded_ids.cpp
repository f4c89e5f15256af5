#include "blinded_ids.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <sodium.h>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/check.hpp"
#include "core/memory/wipe.hpp"
#include "privacy/keys/keyed_hash.hpp"

namespace starling {

namespace {

constexpr std::size_t bytes_of_point = crypto_core_ristretto255_BYTES;
static_assert(bytes_of_point == words_of_point * sizeof(std::uint64_t));

constexpr std::string_view domain_of_points = "starling matching of ids 1\n";

/// The point of an id: SHA-512 of it, as RFC 9496 derives an element from uniform bytes.
void point_of(const std::string& id, unsigned char* point) {
  std::array<unsigned char, crypto_hash_sha512_BYTES> digest;
  crypto_hash_sha512_state state;
  crypto_hash_sha512_init(&state);
  crypto_hash_sha512_update(&state, reinterpret_cast<const unsigned char*>(domain_of_points.data()),
                            domain_of_points.size());
  crypto_hash_sha512_update(&state, reinterpret_cast<const unsigned char*>(id.data()), id.size());
  crypto_hash_sha512_final(&state, digest.data());
  crypto_core_ristretto255_from_hash(point, digest.data());
}

std::size_t words_for(std::size_t bits) {
  return (bits + 63) / 64;
}

}  // namespace

IdBlinder::IdBlinder(std::vector<std::string> ids) : ids_(std::move(ids)), order_(ids_.size()) {
  check<FailureError>(sodium_init() >= 0, "libsodium does not start: ids are matched with it. Install it anew.");
  crypto_core_ristretto255_scalar_random(scalar_.data());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  for (std::size_t left = order_.size(); left > 1; --left) {
    std::swap(order_[left - 1], order_[randombytes_uniform(static_cast<std::uint32_t>(left))]);
  }
}

IdBlinder::~IdBlinder() {
  wipe(scalar_);
  wipe(order_);
}

IdBlinder::IdBlinder(IdBlinder&& other) noexcept
    : ids_(std::move(other.ids_)), order_(std::move(other.order_)), scalar_(other.scalar_) {
  wipe(other.scalar_);
}

void IdBlinder::blind(const unsigned char* point, unsigned char* result) const {
  check<FailureError>(crypto_scalarmult_ristretto255(result, scalar_.data(), point) == 0,
                      "a blinded id is no point of ristretto255: another rank sent something else. Start again; if it "
                      "comes back, find out who changes messages.");
}

Masked IdBlinder::own(std::size_t first, std::size_t count) const {
  std::vector<std::uint64_t> words(count * words_of_point);
  auto* place = reinterpret_cast<unsigned char*>(words.data());
  std::array<unsigned char, bytes_of_point> point;
  for (std::size_t i = first; i < first + count; ++i, place += bytes_of_point) {
    point_of(ids_[order_[i]], point.data());
    blind(point.data(), place);
  }
  return make_share(std::move(words));
}

Masked IdBlinder::blinded(std::span<const std::uint64_t> points) const {
  std::vector<std::uint64_t> words(points.size());
  const auto* from = reinterpret_cast<const unsigned char*>(points.data());
  auto* place = reinterpret_cast<unsigned char*>(words.data());
  for (std::size_t i = 0; i < points.size() / words_of_point; ++i) {
    blind(from + i * bytes_of_point, place + i * bytes_of_point);
  }
  return make_share(std::move(words));
}

std::vector<std::size_t> IdBlinder::rows(std::span<const std::uint64_t> marks) const {
  check<FailureError>(marks.size() == words_for(order_.size()),
                      "{} words with marks of {} ids: another number. This is a fault of the program.", marks.size(),
                      order_.size());
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    if (((marks[i / 64] >> (i % 64)) & 1) != 0) rows.push_back(order_[i]);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<Masked> BlindedIds::marks_of_common(const std::vector<std::vector<std::uint64_t>>& lists) {
  const auto point_at = [&](const std::vector<std::uint64_t>& list, std::size_t i) {
    return std::string_view(reinterpret_cast<const char*>(list.data()) + i * bytes_of_point, bytes_of_point);
  };
  // The number of lists, from the first on, that have a point of the first list.
  std::unordered_map<std::string_view, std::size_t> found;
  for (std::size_t k = 0; k < lists.size(); ++k) {
    for (std::size_t i = 0; i < lists[k].size() / words_of_point; ++i) {
      const std::string_view point = point_at(lists[k], i);
      if (k == 0) {
        found.emplace(point, 1);
      } else if (const auto place = found.find(point); place != found.end() && place->second == k) {
        ++place->second;
      }
    }
  }
  std::vector<Masked> marks;
  for (const std::vector<std::uint64_t>& list : lists) {
    const std::size_t count = list.size() / words_of_point;
    std::vector<std::uint64_t> words(words_for(count));
    for (std::size_t i = 0; i < count; ++i) {
      const auto place = found.find(point_at(list, i));
      if (place != found.end() && place->second == lists.size()) words[i / 64] |= std::uint64_t{1} << (i % 64);
    }
    marks.push_back(make_share(std::move(words)));
  }
  return marks;
}

Masked HiddenKey::under(const NoiseKey& pad, const NoiseKey& key) {
  std::vector<std::uint64_t> words(words_of_point);
  auto* place = reinterpret_cast<unsigned char*>(words.data());
  for (std::size_t i = 0; i < key.bytes().size(); ++i) {
    place[i] = static_cast<unsigned char>(pad.bytes()[i] ^ key.bytes()[i]);
  }
  return make_share(std::move(words));
}

MatchedOrder::MatchedOrder(std::vector<std::size_t> rows, const std::vector<std::string>& ids, const NoiseKey& secret,
                           std::uint64_t seed)
    : rows_(std::move(rows)) {
  std::sort(rows_.begin(), rows_.end(), [&](std::size_t a, std::size_t b) { return ids[a] < ids[b]; });
  std::string all;
  for (const std::size_t row : rows_) all += fmt::format("{} {} ", ids[row].size(), ids[row]);
  const auto bytes_of = [](std::string_view text) {
    return std::span(reinterpret_cast<const unsigned char*>(text.data()), text.size());
  };
  const NoiseKey key =
      KeyedHash(secret.bytes(), "starling order of matched records 1").number(seed).bytes(bytes_of(all)).finish();
  std::vector<std::pair<NoiseKey::Bytes, std::size_t>> places;
  for (const std::size_t row : rows_) {
    auto& place = places.emplace_back(NoiseKey::Bytes{}, row);
    KeyedHash(key.bytes(), "starling place of a matched record 1").bytes(bytes_of(ids[row])).finish(place.first);
  }
  std::sort(places.begin(), places.end());
  for (std::size_t i = 0; i < places.size(); ++i) rows_[i] = places[i].second;
  digest_ = key.commitment("starling matched records 1");
}

}  // namespace starling
