/// How fast the discrete Laplace noise is drawn, ChaCha20 included.
#include "privacy/keys/keystream.hpp"
#include "rate.hpp"

int main(int argc, char** argv) {
  starling::Keystream words(starling::NoiseKey::from_seed(1, 1));
  std::vector<std::int64_t> integers;
  return starling::benchmark::measure_rate(argc, argv, "laplace", [&](std::size_t count) {
    integers.resize(count);
    starling::add_discrete_laplace(words, integers);
  });
}
