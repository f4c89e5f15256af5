#include "privacy/shares/shared_gaussian.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.hpp"
#include "core/memory/wipe.hpp"
#include "core/text/limits.hpp"
#include "privacy/keys/keystream.hpp"
#include "privacy/noise/discrete_gaussian.hpp"
#include "privacy/noise/grid.hpp"
#include "privacy/rows.hpp"

namespace starling {

namespace {

constexpr double enlargement_of_shared = 0x1p-20;  // of Σ beyond Δ/μ
constexpr double proof_constant_of_shared = 1024;  // privacy/mechanism/masked_gaussian.hpp, step 4
constexpr double most_shared_sum = 0x1p61;         // of records, and of noise: they add up within 64 bits
constexpr double most_shared_sigma = 0x1p54;       // 40 of them, times √2, are below most_shared_sum

double next_above(double value) {
  return std::nextafter(value, std::numeric_limits<double>::infinity());
}

}  // namespace

struct SharedGaussian::State {
  explicit State(double sigma) : noise(sigma) {}
  DiscreteGaussian noise;  // of the last price
  std::vector<std::int64_t> draws;
  ReleaseKeys keys;
  Keystream words{NoiseKey(NoiseKey::Bytes{})};
};

SharedGaussian::SharedGaussian(const ReleaseSettings& settings, const SharedSumTerms& terms)
    : Protection(settings), terms_(terms) {
  check(terms.parties >= 2, "{} party: shares are among two or more.", terms.parties);
  const double largest = static_cast<double>(terms.records) * static_cast<double>(terms.most_slope) * terms.row_bound;
  check(largest < most_shared_sum, "sums over {} records do not fit into 64-bit integers. Take fewer records.",
        terms.records);
  if (!terms.noisy) return;
  check(!settings.correlation, "correlated noise in shares: it is independent. Use --noise-correlation none.");
  check(is_whole(settings.unit),
        "--unit component with shares: sums are over whole records. Use --unit record or person.");
  for (const double price : {settings.price.least, settings.price.most}) {
    const double share = share_deviation(price);
    check(share >= GaussianNoise::smallest_sigma &&
              share * std::sqrt(static_cast<double>(terms.parties)) <= most_shared_sigma,
          "mu={} for a round: noise of that size cannot be drawn in shares. Choose a {} price.", price,
          share < GaussianNoise::smallest_sigma ? "smaller" : "larger");
    check(proof_constant_of_shared * static_cast<double>(settings.dimension) / share / share <=
              enlargement_of_shared / 2 * price,
          "mu={} for a round of {} sums: the shares of the noise are too coarse for what is claimed of their sum. "
          "Choose a smaller price.",
          price, settings.dimension);
  }
  state_ = std::make_unique<State>(share_deviation(settings.price.most));
}

SharedGaussian::~SharedGaussian() = default;

Charge SharedGaussian::charge(double price) const {
  return terms_.noisy ? Charge::gaussian(price) : Charge::unbounded();
}

/// s, rounded up.
double SharedGaussian::share_deviation(double price) const {
  const Bound<Norm::l2> sensitivity{
      next_above(2 * static_cast<double>(terms_.most_slope) * next_above(terms_.row_bound))};
  const double whole = gaussian_sigma(sensitivity, price) * (1 + enlargement_of_shared);
  return next_above(whole / std::sqrt(static_cast<double>(terms_.parties)));
}

double SharedGaussian::deviation(double price) const {
  if (!terms_.noisy) return 0;
  const double draws = static_cast<double>(terms_.parties + 1);
  return share_deviation(price) * std::sqrt(draws) * terms_.step / static_cast<double>(terms_.records);
}

std::string SharedGaussian::description() const {
  const bool persons = settings_.unit == PrivacyUnit::person;
  const std::string sums = fmt::format(
      "Each {}'s part of a gradient sum{} is bounded by {:.4g} in L2 over the columns of all parties (rows are "
      "clipped party by party, and the slope of the loss is a polynomial whose largest value counts)",
      summand_of(settings_.unit), persons ? ", the mean over the person's records," : "", settings_.clip);
  if (!terms_.noisy) return sums + ". Sums over all records are opened without noise.";
  const std::string first =
      histograms_ == 0
          ? ""
          : fmt::format(
                ". The first {} of the openings have no sums, but histograms of each party's columns and of labels "
                "that are numbers, to which the party adds Gaussian noise and which it alone looks at: those of all "
                "parties cost as much "
                "as a sum",
                histograms_);
  return sums + first +
         fmt::format(
             ", and each of {} parties and the dealer adds its share of Gaussian noise, so that each component of the "
             "opened mean has noise with a standard deviation of {}. The shares are exact discrete Gaussians on "
             "integers, with bits from ChaCha20 keystreams. What is computed is shared modulo 2^64 and 2^128; sums "
             "with noise alone are opened. The mu holds against each party, and against the dealer, each of whom can "
             "take off its own share of the noise; it holds for the arithmetic of the machine, but for an event of "
             "probability below 1e-300, unless one of the ciphers (X25519, ChaCha20) is broken.",
             terms_.parties, size_range(deviation(settings_.price.most), deviation(settings_.price.least)));
}

void SharedGaussian::add_noise(const ReleaseAddress& address, double price, const NoiseKey& key,
                               std::span<Word> share) {
  if (!terms_.noisy) return;
  check_price(price);
  State& state = *state_;
  const double sigma = share_deviation(price);
  if (sigma != state.noise.sigma()) state.noise = DiscreteGaussian(sigma);
  state.draws.assign(share.begin(), share.end());
  state.words.restart(
      release_stream(state.keys, key, settings_.run_id, address, "shared-gaussian", sigma, terms_.step, state.draws));
  for (std::size_t j = 0; j < share.size(); ++j) share[j] = static_cast<Word>(state.draws[j]);
  std::fill(state.draws.begin(), state.draws.end(), 0);  // words of a share are not in the range of noise
  state.noise.add(state.words, state.draws);
  for (std::size_t j = 0; j < share.size(); ++j) share[j] += static_cast<Word>(state.draws[j]);
  wipe(state.draws);
}

Released<Vector> SharedGaussian::open(std::span<const Word> total) const {
  const double size = terms_.step / static_cast<double>(terms_.records);
  Vector mean(total.size());
  for (std::size_t j = 0; j < mean.size(); ++j) {
    mean[j] = static_cast<double>(static_cast<std::int64_t>(total[j])) * size;
  }
  return make(std::move(mean));
}

double loss_by_collusion(std::int64_t parties, std::int64_t colluding) {
  if (colluding > parties) return infinity;
  const std::int64_t left = parties + 1 - std::max<std::int64_t>(colluding, 1);
  return std::sqrt(static_cast<double>(parties) / static_cast<double>(left)) * (1 + 0x1p-40);
}

}  // namespace starling
