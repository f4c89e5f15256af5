#include "laplace_draws.hpp"
#include <algorithm>

#include <openssl/crypto.h>

namespace starling {

namespace {

using Words = std::array<std::uint64_t, laplace_draws::group_words * laplace_draws::block_groups>;

/// Wipes what the draws used of the words when it goes.
struct Wipe {
  Words& words;
  std::size_t count;
  ~Wipe() { OPENSSL_cleanse(words.data(), std::min(count, words.size()) * sizeof(std::uint64_t)); }
};

}  // namespace

void add_discrete_laplace(Keystream& words, std::span<std::int64_t> integers) {
  Words block;
  const std::size_t groups = (integers.size() + laplace_draws::lanes - 1) / laplace_draws::lanes;
  const Wipe wipe{block, groups * laplace_draws::group_words};
  laplace_draws::add_draws(words, integers, block);
}

}  // namespace starling
