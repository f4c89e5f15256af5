/// How fast the Gaussian noise is drawn at σ = 2^41 (μ = 1), ChaCha20 included.
#include "privacy/noise/gaussian_noise.hpp"
#include "rate.hpp"

int main(int argc, char** argv) {
  starling::Keystream words(starling::NoiseKey::from_seed(1, 1));
  const starling::GaussianNoise noise(0x1p41);
  std::vector<std::int64_t> integers;
  return starling::benchmark::measure_rate(argc, argv, "gaussian", [&](std::size_t count) {
    integers.assign(count, 0);
    noise.add(words, integers);
  });
}
