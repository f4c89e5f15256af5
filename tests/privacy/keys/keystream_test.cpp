#include "privacy/keys/keystream.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "support/testing.hpp"

namespace starling::keystream_test {

/// The next `count` bytes as hexadecimal digits.
std::string take(Keystream& words, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; i += 8) {
    std::uint64_t word = words();
    for (int byte = 0; byte < 8; ++byte, word >>= 8) {
      for (const unsigned shift : {4U, 0U}) text += "0123456789abcdef"[(word >> shift) & 15U];
    }
  }
  return text;
}

// RFC 8439, appendix A.1, test vectors 1 and 2: key 0, nonce 0, counters 0 and 1.
TEST(Keystream, IsChaCha20) {
  Keystream words(NoiseKey(NoiseKey::Bytes{}));
  EXPECT_EQ(take(words, 64),
            "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
            "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586");
  EXPECT_EQ(take(words, 64),
            "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
            "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f");
}

// RFC 8439, appendix A.1, test vector 3: the last byte of the key is 1, counter 1.
TEST(Keystream, IsChaCha20WithAnotherKey) {
  NoiseKey::Bytes bytes{};
  bytes[31] = 1;
  Keystream words{NoiseKey(bytes)};
  take(words, 64);
  EXPECT_EQ(take(words, 64),
            "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a"
            "8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0");
}

TEST(Keystream, RestartsAsIfNewAfterAnyNumberOfWords) {
  const NoiseKey key = NoiseKey::from_seed(1, 0);
  Keystream fresh(key);
  const std::string expected = take(fresh, 20000);
  Keystream reused(NoiseKey::from_seed(2, 0));
  for (const std::size_t before : {0U, 8U, 256U, 264U, 5000U}) {
    take(reused, before);
    reused.restart(key);
    EXPECT_EQ(take(reused, 20000), expected) << before;
  }
}

TEST(Keystream, NeverRepeatsWhereItsBufferIsFilledAgain) {
  Keystream words(NoiseKey::from_seed(3, 0));
  std::vector<std::uint64_t> all(8192);
  for (std::uint64_t& word : all) word = words();
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());  // by chance: 2e-12
}

TEST(Keystream, MovesWithItsPlaceInTheStream) {
  const NoiseKey key = NoiseKey::from_seed(4, 0);
  Keystream whole(key);
  Keystream first(key);
  take(whole, 80);
  take(first, 80);
  Keystream second(std::move(first));
  EXPECT_EQ(take(second, 400), take(whole, 400));
}

TEST(Keystream, GivesManyWordsAtOnceAsOneByOne) {
  const NoiseKey key = NoiseKey::from_seed(5, 0);
  Keystream single(key);
  Keystream bulk(key);
  // Less and more than the buffer, than the cipher's block and than what it encrypts at once; never aligned to them.
  for (const std::size_t count : {0U, 1U, 7U, 8U, 9U, 31U, 64U, 100U, 1023U, 1024U, 1025U, 5000U, 3U, 512U}) {
    std::vector<std::uint64_t> words(count);
    bulk.words(words);
    for (const std::uint64_t word : words) ASSERT_EQ(word, single()) << count;
    ASSERT_EQ(bulk(), single()) << count;
  }
  bulk.restart(key);
  std::vector<std::uint64_t> first(2000);
  bulk.words(first);
  single.restart(key);
  for (const std::uint64_t word : first) ASSERT_EQ(word, single());
}

}  // namespace starling::keystream_test
