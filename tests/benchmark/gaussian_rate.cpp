/// Rate of the Gaussian sampler on one core, keystream included.
///
///    gaussian_rate SECONDS SIGMA [LENGTH]
///
/// adds noise to LENGTH integers (10,000 unless told) again and again for SECONDS of processor time and prints one
/// line: "gaussian sigma=… length=… Mdraws_per_second=…", the median over slices of a twentieth of the time.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <vector>

#include <fmt/format.h>

#include "starling/core/check.hpp"
#include "starling/privacy/gaussian_noise.hpp"

namespace {

double seconds_now() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// Draws per second over at least `seconds`.
double rate(starling::Keystream& words, double sigma, std::vector<std::int64_t>& integers, double seconds) {
  const double start = seconds_now();
  double now = start;
  double draws = 0;
  while (now - start < seconds) {
    std::fill(integers.begin(), integers.end(), 0);
    starling::add_gaussian(words, sigma, integers);
    draws += static_cast<double>(integers.size());
    now = seconds_now();
  }
  return draws / (now - start);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    fmt::print(stderr, "usage: gaussian_rate SECONDS SIGMA [LENGTH]\n");
    return 2;
  }
  try {
    const double seconds = std::atof(argv[1]);
    const double sigma = std::atof(argv[2]);
    std::vector<std::int64_t> integers(argc == 4 ? std::strtoul(argv[3], nullptr, 10) : 10000);
    starling::check(seconds > 0 && !integers.empty(), "seconds and length must be positive");
    starling::Keystream words(starling::NoiseKey::from_seed(1, 0));
    std::vector<double> rates(20);
    for (double& one : rates) one = rate(words, sigma, integers, seconds / 20);
    std::nth_element(rates.begin(), rates.begin() + 10, rates.end());
    fmt::print("gaussian sigma={:g} length={} Mdraws_per_second={:.1f}\n", sigma, integers.size(), rates[10] / 1e6);
    return 0;
  } catch (const starling::Error& error) {
    fmt::print(stderr, "gaussian_rate: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
