/// Masks cancel in the sum, hide what is alone, and never come twice.
#include "privacy/mechanism/masking.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "core/check.hpp"
#include "core/digest.hpp"

namespace starling::masking_test {

using Words = std::vector<std::uint64_t>;

std::vector<Masker> maskers(std::size_t clients, const std::string& run_id = "run") {
  std::vector<MaskKey> keys;
  std::vector<MaskKey::Bytes> shown;
  for (std::size_t u = 0; u < clients; ++u) {
    keys.push_back(MaskKey::derived(NoiseKey::from_seed(7, static_cast<Client>(u)), run_id));
    shown.push_back(keys.back().public_key());
  }
  std::vector<Masker> result;
  for (std::size_t u = 0; u < clients; ++u) result.emplace_back(keys[u], static_cast<Client>(u), shown, run_id);
  return result;
}

Words masks(Masker& masker, Round round, std::uint32_t index, std::size_t length) {
  Words words(length);
  masker.mask(round, index, words);
  return words;
}

class MaskingOf : public testing::TestWithParam<std::size_t> {};

TEST_P(MaskingOf, MasksCancelInTheSum) {
  constexpr std::size_t length = 2500;  // more than two blocks
  Words sum(length);
  for (Masker& masker : maskers(GetParam())) {
    Words words(length);
    for (std::size_t j = 0; j < length; ++j) words[j] = j;
    masker.mask(5, 1, words);
    for (std::size_t j = 0; j < length; ++j) sum[j] += words[j];
  }
  for (std::size_t j = 0; j < length; ++j) ASSERT_EQ(sum[j], GetParam() * j);
}

INSTANTIATE_TEST_SUITE_P(Clients, MaskingOf, testing::Values(1, 2, 3, 7));

TEST(Masking, OneAloneHasNoMasks) {
  std::vector<Masker> alone = maskers(1);
  EXPECT_EQ(masks(alone[0], 0, 0, 10), Words(10));
}

/// All 256 values of each of a word's bytes, and of a word less its neighbour's, by Pearson's chi-square: 255 degrees
/// of freedom; beyond 377 has a probability of 10^-6 (nine such tests: the test errs with 9e-6).
TEST(Masking, AShareAloneLooksUniform) {
  constexpr std::size_t length = 200'000;
  std::vector<Masker> three = maskers(3);
  const Words words = masks(three[1], 0, 0, length);
  const auto chi_square = [](const std::array<double, 256>& counts) {
    double total = 0;
    for (const double count : counts) total += std::pow(count - length / 256.0, 2) / (length / 256.0);
    return total;
  };
  for (std::size_t byte = 0; byte < 8; ++byte) {
    std::array<double, 256> counts{};
    for (const std::uint64_t word : words) ++counts[(word >> (8 * byte)) & 255];
    EXPECT_LT(chi_square(counts), 377) << byte;
  }
  std::array<double, 256> counts{};
  for (std::size_t j = 0; j < length; ++j) ++counts[((words[j] - words[(j + 1) % length]) >> 30) & 255];
  EXPECT_LT(chi_square(counts), 377);
}

TEST(Masking, NoBlockComesTwice) {
  std::vector<Masker> two = maskers(2);
  std::vector<Words> all;
  for (const Round round : {0, 1, 255, 256}) {
    for (const std::uint32_t index : {0U, 1U, 256U}) all.push_back(masks(two[0], round, index, 64));
  }
  all.push_back(masks(maskers(2, "another run")[0], 0, 0, 64));
  Words words;
  for (const Words& each : all) words.insert(words.end(), each.begin(), each.end());
  std::sort(words.begin(), words.end());
  EXPECT_EQ(std::adjacent_find(words.begin(), words.end()), words.end());
  EXPECT_EQ(masks(two[0], 0, 0, 64), all[0]);
}

/// What a third client adds cannot be left out.
TEST(Masking, OnlyTheWholeSumIsUnmasked) {
  std::vector<Masker> three = maskers(3);
  std::vector<Masker> others = maskers(3, "another run");
  Words sum = masks(three[0], 0, 0, 8);
  const Words second = masks(three[1], 0, 0, 8);
  const Words third = masks(three[2], 0, 0, 8);
  for (std::size_t j = 0; j < 8; ++j) EXPECT_NE(sum[j] + second[j], 0U);
  for (std::size_t j = 0; j < 8; ++j) EXPECT_EQ(sum[j] + second[j] + third[j], 0U);
  EXPECT_NE(masks(others[0], 0, 0, 8), masks(three[0], 0, 0, 8));
}

TEST(Masking, RandomKeysDiffer) {
  EXPECT_NE(MaskKey::random().public_key(), MaskKey::random().public_key());
}

TEST(Masking, MovedKeysStillMask) {
  MaskKey key = MaskKey::derived(NoiseKey::from_seed(1, 0), "run");
  const MaskKey other = MaskKey::derived(NoiseKey::from_seed(1, 1), "run");
  const std::vector<MaskKey::Bytes> shown{key.public_key(), other.public_key()};
  Masker before(key, 0, shown, "run");
  const MaskKey moved = std::move(key);
  Masker after(moved, 0, shown, "run");
  EXPECT_EQ(masks(before, 2, 0, 5), masks(after, 2, 0, 5));
}

/// The u-coordinates of points whose order divides 8, canonical (RFC 7748; Bernstein's list of values to reject).
TEST(Masking, KeysOfLowOrderAreRefused) {
  const MaskKey key = MaskKey::derived(NoiseKey::from_seed(1, 0), "run");
  const std::vector<MaskKey::Bytes> low{
      MaskKey::Bytes{},
      MaskKey::Bytes{1},
      {0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4, 0x6a,
       0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00},
      {0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83, 0xef, 0x5b,
       0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f, 0x11, 0x57},
      {0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
       0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
  };
  for (const MaskKey::Bytes& each : low) EXPECT_THROW(Masker(key, 0, {key.public_key(), each}, "run"), UsageError);
}

TEST(Masking, ExchangedAndEqualKeysAreRefused) {
  const MaskKey key = MaskKey::derived(NoiseKey::from_seed(1, 0), "run");
  const MaskKey other = MaskKey::derived(NoiseKey::from_seed(1, 1), "run");
  EXPECT_THROW(Masker(key, 1, {key.public_key(), other.public_key()}, "run"), UsageError);
  EXPECT_THROW(Masker(key, 0, {key.public_key(), key.public_key()}, "run"), UsageError);
  EXPECT_THROW(Masker(key, 2, {key.public_key(), other.public_key()}, "run"), UsageError);
}

/// Two clients on ranks of their own, and what the relay between them gave each.
struct Relayed {
  std::vector<MaskKey> own;                           ///< of client 0, client 1
  std::vector<std::vector<MaskKey::Bytes>> received;  ///< by client 0, client 1
};

/// `to_rank` is what the relay makes of the list of ranks' keys for rank r.
Relayed relayed(const std::function<std::vector<std::string>(std::size_t, std::vector<std::string>)>& to_rank) {
  Relayed result;
  std::vector<std::string> shown;
  for (int u = 0; u < 2; ++u) {
    result.own.push_back(MaskKey::random());
    const MaskKey::Bytes key = result.own.back().public_key();
    shown.push_back(to_hex(std::string(key.begin(), key.end())));
  }
  for (std::size_t u = 0; u < 2; ++u) {
    std::vector<MaskKey> keys;
    keys.push_back(std::move(result.own[u]));
    result.received.push_back(received_keys(keys, [&](const std::string& own) {
      EXPECT_EQ(own, shown[u]);
      return to_rank(u, shown);
    }));
    result.own[u] = std::move(keys.front());
  }
  return result;
}

TEST(MaskKeys, OfAnHonestRelayHaveEqualFingerprintsEverywhere) {
  const Relayed all = relayed([](std::size_t, std::vector<std::string> keys) { return keys; });
  EXPECT_EQ(all.received[0], all.received[1]);
  EXPECT_EQ(fingerprint(all.received[0]), fingerprint(all.received[1]));
  EXPECT_EQ(list_of_keys(all.received[0]), list_of_keys(all.received[1]));
  EXPECT_EQ(fingerprint(all.received[0][1]), fingerprint(all.own[1].public_key()));
}

// The attack of docs/privacy.md: the relay stands between the clients with keys of its own. Each client's own key comes
// back as it was, so that no client can notice by itself; who compares what both received does.
TEST(MaskKeys, ThatARelayExchangesShowAsADifference) {
  const MaskKey of_relay = MaskKey::random();
  const MaskKey::Bytes planted = of_relay.public_key();
  const Relayed all = relayed([&](std::size_t rank, std::vector<std::string> keys) {
    keys[1 - rank] = to_hex(std::string(planted.begin(), planted.end()));
    return keys;
  });
  for (Client u : {0, 1}) {
    EXPECT_NO_THROW(Masker(all.own[static_cast<std::size_t>(u)], u, all.received[static_cast<std::size_t>(u)], "run"));
  }
  EXPECT_NE(fingerprint(all.received[0]), fingerprint(all.received[1]));
  EXPECT_NE(list_of_keys(all.received[0]), list_of_keys(all.received[1]));
  EXPECT_NE(fingerprint(all.received[0][1]), fingerprint(all.own[1].public_key())) << "client 1 would say its own";
  EXPECT_EQ(fingerprint(all.received[0][1]), fingerprint(planted));
  // With the planted key the relay has the masks: the key that client 0 shares is the relay's.
  EXPECT_EQ(all.own[0].common_key(planted, "test").hex(), of_relay.common_key(all.own[0].public_key(), "test").hex());
}

TEST(MaskKeys, ThatAreNoneAreRefused) {
  for (const std::string& text : {std::string(63, 'a'), std::string(64, 'x'), std::string(65, '0')}) {
    EXPECT_THROW(static_cast<void>(received_keys({}, [&](const std::string&) { return std::vector{text}; })),
                 DataError);
  }
}

// By hand: SHA-256 of 32 zero bytes is 66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925.
TEST(MaskKeys, HaveFingerprintsThatCanBeReadOut) {
  EXPECT_EQ(fingerprint(MaskKey::Bytes{}), "6668-7aad-f862-bd77-6c8f-c18b");
  EXPECT_EQ(fingerprint(std::vector{MaskKey::Bytes{}}), "6668-7aad-f862-bd77-6c8f-c18b-8e9f-8e20-0897-1485");
}

TEST(MaskKeys, OfTwoClientsMakeOneKeyForEachPurpose) {
  const MaskKey one = MaskKey::random();
  const MaskKey other = MaskKey::random();
  EXPECT_EQ(one.common_key(other.public_key(), "a").hex(), other.common_key(one.public_key(), "a").hex());
  EXPECT_NE(one.common_key(other.public_key(), "a").hex(), one.common_key(other.public_key(), "b").hex());
  EXPECT_NE(one.common_key(other.public_key(), "a").hex(), one.common_key(MaskKey::random().public_key(), "a").hex());
  EXPECT_THROW(static_cast<void>(one.common_key(MaskKey::Bytes{}, "a")), UsageError);
}

}  // namespace starling::masking_test
