#include "privacy/mechanism/masked_gaussian.hpp"

#include <cmath>
#include <limits>

#include "core/check.hpp"
#include "core/memory/wipe.hpp"
#include "privacy/keys/keystream.hpp"
#include "privacy/noise/discrete_gaussian.hpp"
#include "privacy/noise/grid.hpp"
#include "privacy/rows.hpp"

namespace starling {

namespace {

constexpr double enlargement = 0x1p-20;         // of Σ beyond 2 N/μ
constexpr double most_sum = 0x1p62;             // of records and noise each: they add up within int64
constexpr double constant_of_proof = 1024;      // step 4 of the header
constexpr double largest_total_sigma = 0x1p56;  // 40 of them are below most_sum

double next_up(double value) {
  return std::nextafter(value, std::numeric_limits<double>::infinity());
}

}  // namespace

struct MaskedGaussian::State {
  State(const ReleaseSettings& settings, std::int64_t the_clients)
      : rounding(settings, gaussian_reach), clients(the_clients), noise(share_in_range(settings.price.most)) {
    // The smallest noise first: the other end of the range is checked and not kept.
    static_cast<void>(share_in_range(settings.price.least));
  }

  /// Σ.
  [[nodiscard]] double sigma(double price) const {
    return gaussian_sigma(rounding.sensitivity(price), price) * (1 + enlargement);
  }
  /// s.
  [[nodiscard]] double share(double price) const {
    return next_up(sigma(price) / std::sqrt(static_cast<double>(clients)));
  }
  [[nodiscard]] double share_in_range(double price) const {
    check(sigma(price) <= largest_total_sigma && share(price) >= GaussianNoise::smallest_sigma,
          "mu={} with {} clients: noise in shares can be drawn for {:.3g} to {:.3g}. Choose another.", price, clients,
          rounding.sensitivity(price).value / largest_total_sigma * (1 + 2 * enlargement),
          rounding.sensitivity(price).value / GaussianNoise::smallest_sigma / std::sqrt(static_cast<double>(clients)));
    return share(price);
  }

  GridRounding<Norm::l2> rounding;
  std::int64_t clients;
  DiscreteGaussian noise;  // of the last price
  ReleaseKeys keys;
  Keystream words{NoiseKey(NoiseKey::Bytes{})};
};

MaskedGaussian::MaskedGaussian(const ReleaseSettings& settings, std::int64_t clients) : Protection(settings) {
  check(clients >= 1, "{} clients: there must be one at least.", clients);
  check(settings.replacement == 2, "a replaced record that moves the sum by {} clips: 2 is proved for masked sums.",
        settings.replacement);
  check(!settings.correlation,
        "correlated noise with masked sums: their shares are independent. Use --noise-correlation none.");
  const double records = static_cast<double>(settings.batch) * static_cast<double>(clients);
  check(records * static_cast<double>(gaussian_reach(settings.price.most)) < most_sum,
        "batch={} of {} clients: the masked sum of more than 2^22 records does not fit into 64-bit integers. Choose a "
        "smaller batch, or fewer clients.",
        settings.batch, clients);
  state_ = std::make_unique<State>(settings, clients);
  const double share = state_->share(settings.price.most);
  check(constant_of_proof * static_cast<double>(settings.dimension) / share / share <=
            enlargement / 2 * settings.price.most,
        "mu={} with {} clients and dimension={}: the shares of the noise are too coarse for what is claimed of their "
        "sum. Choose a smaller mu.",
        settings.price.most, clients, settings.dimension);
}

MaskedGaussian::~MaskedGaussian() = default;

Clip MaskedGaussian::clip() const {
  return state_->rounding.grid().clip;
}

Charge MaskedGaussian::charge(double price) const {
  return Charge::gaussian(price);
}

std::int64_t MaskedGaussian::clients() const {
  return state_->clients;
}

double MaskedGaussian::step(double price) const {
  return state_->rounding.step(price);
}

double MaskedGaussian::deviation(double price) const {
  return state_->share(price) * std::sqrt(static_cast<double>(state_->clients)) * step(price);
}

std::string MaskedGaussian::description() const {
  return state_->rounding.clipping() +
         fmt::format(
             ", and each of {} client(s) adds its share of Gaussian noise, so that each component of the sum over all "
             "clients has noise with a standard deviation of {}. The shares are exact discrete Gaussians on integers, "
             "with bits from ChaCha20 keystreams, and are sent under pairwise masks (X25519, ChaCha20) that cancel in "
             "the sum modulo 2^64: only the sum can be read. Its mu holds for the arithmetic of the machine, but for "
             "an event of probability below 1e-300, unless one of these ciphers is broken.",
             state_->clients, size_range(deviation(settings_.price.most), deviation(settings_.price.least)));
}

Masked MaskedGaussian::contribute(const ReleaseAddress& address, double price, const NoiseKey& key, Masker& masker,
                                  const Secret<Vector>& sum) {
  check_price(price);
  const Vector& values = Release::open(sum);
  check_sum(address, values);
  State& state = *state_;
  if (state.share(price) != state.noise.sigma()) state.noise = DiscreteGaussian(state.share(price));
  const std::span<std::int64_t> integers = state.rounding.round(address, price, values);
  state.words.restart(release_stream(state.keys, key, settings_.run_id, address, "masked-gaussian", state.noise.sigma(),
                                     step(price), integers));
  state.noise.add(state.words, integers);
  std::vector<std::uint64_t> words(integers.begin(), integers.end());  // modulo 2^64
  wipe(integers);
  masker.mask(address.round, address.index, words);
  return make_share(std::move(words));
}

Released<Vector> MaskedGaussian::open(double price, const std::vector<std::uint64_t>& total) const {
  check_price(price);
  check<FailureError>(total.size() == settings_.dimension, "a masked sum of {} words: there should be {}.",
                      total.size(), settings_.dimension);
  const double size = step(price);
  Vector sum(total.size());
  for (std::size_t j = 0; j < sum.size(); ++j) sum[j] = static_cast<double>(static_cast<std::int64_t>(total[j])) * size;
  return make(std::move(sum));
}

}  // namespace starling
