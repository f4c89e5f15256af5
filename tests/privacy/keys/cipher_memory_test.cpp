// Noise and keys ask for no memory after the first release, not even inside the cryptographic library.
#include <atomic>
#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>
#include <openssl/crypto.h>

#include "privacy/keys/keys.hpp"
#include "privacy/keys/keystream.hpp"

namespace {

std::atomic<long> allocations = 0;

void* counting_malloc(std::size_t size, const char* /*file*/, int /*line*/) {
  ++allocations;
  return std::malloc(size);
}
void* counting_realloc(void* memory, std::size_t size, const char* /*file*/, int /*line*/) {
  ++allocations;
  return std::realloc(memory, size);
}
void counting_free(void* memory, const char* /*file*/, int /*line*/) {
  std::free(memory);
}

// Before main: the library refuses once it has allocated anything.
const bool counting = CRYPTO_set_mem_functions(counting_malloc, counting_realloc, counting_free) == 1;

}  // namespace

namespace starling::cipher_memory_test {

TEST(Cipher, AllocatesNothingAfterTheFirstRelease) {
  ASSERT_TRUE(counting);
  const NoiseKey key = NoiseKey::from_seed(1, 2);
  ReleaseKeys keys;
  Keystream words(key);
  std::vector<std::int64_t> integers(5000);
  const auto release = [&](Round round) {
    words.restart(release_stream(keys, key, "run", {ReleasePath::by_itself, 2, round, 0}, "laplace", 1, 2, integers));
    add_discrete_laplace(words, integers);
  };
  release(0);
  const long before = allocations;
  EXPECT_GT(before, 0);
  for (Round round = 1; round < 40; ++round) release(round);
  EXPECT_EQ(allocations, before);
}

}  // namespace starling::cipher_memory_test
