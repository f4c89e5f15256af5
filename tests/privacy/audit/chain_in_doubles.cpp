#include "privacy/audit/chain_in_doubles.hpp"

#include <cmath>

#include "core/check.hpp"

namespace starling {

namespace {

const NoiseCorrelation& correlation_in(const ReleaseSettings& settings) {
  check(settings.correlation.has_value(), "a chain without a correlation: the noise is independent. Name one.");
  return *settings.correlation;
}

}  // namespace

ChainInDoubles::ChainInDoubles(Fault fault, std::unique_ptr<Mechanism> honest)
    : Mechanism(honest->settings()),
      fault_(fault),
      honest_(std::move(honest)),
      correlation_(correlation_in(settings_)),
      rounding_(settings_, gaussian_reach),
      noise_(gaussian_sigma({noise_factor(correlation_) * rounding_.sensitivity(settings_.price.most).value},
                            settings_.price.most)) {
  begin_chains();
}

void ChainInDoubles::begin_chains() {
  for (Vector& sum : sums_) sum.assign(settings_.dimension, 0.0);
}

double ChainInDoubles::taken_back(std::size_t coordinate) const {
  double sum = 0;
  for (std::size_t j = 0; j < sums_.size(); ++j) sum += correlation_.omega[j] * sums_[j][coordinate];
  return fault_ == Fault::unrounded ? sum : std::nearbyint(sum);
}

void ChainInDoubles::release(const ReleaseAddress& address, double price, const NoiseKey& key,
                             const Secret<Vector>& sum, Released<Vector>& noisy_mean) {
  check_price(price);
  const std::span<const std::int64_t> integers = rounding_.round(address, price, open(sum));
  std::vector<std::int64_t> content(integers.begin(), integers.end());  // what the noise is a function of
  for (std::size_t j = 0; j < content.size(); ++j) {
    if (fault_ != Fault::same_noise) content[j] -= std::llrint(taken_back(j));
  }
  Keystream words(
      release_stream(keys_, key, settings_.run_id, address, "chain", noise_.sigma(), rounding_.step(price), content));
  std::vector<std::int64_t> noise(integers.size(), 0);
  noise_.add(words, noise);
  const double size = rounding_.step(price) / static_cast<double>(settings_.batch);
  noisy_mean.update([&](Vector& mean) {
    mean.resize(integers.size());
    for (std::size_t j = 0; j < mean.size(); ++j) {
      mean[j] = (static_cast<double>(integers[j] + noise[j]) - taken_back(j)) * size;
    }
  });
  for (std::size_t j = 0; j < noise.size(); ++j) {
    for (std::size_t b = 0; b < sums_.size(); ++b) {
      sums_[b][j] = correlation_.theta[b] * sums_[b][j] + static_cast<double>(noise[j]);
    }
  }
}

}  // namespace starling
