#include "correlated_gaussian.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/check.hpp"
#include "core/memory/wipe.hpp"
#include "privacy/correlation_weights.hpp"
#include "privacy/noise/gaussian_noise.hpp"
#include "privacy/noise/grid.hpp"
#include "privacy/rows.hpp"

namespace starling {

namespace {

using Buffers = std::vector<std::int64_t>;  // all S_1, then all S_2

constexpr int bits_of_buffer = 61;

const NoiseCorrelation& correlation_of(const ReleaseSettings& settings) {
  check<FailureError>(settings.correlation.has_value(), "correlated noise without its correlation");
  return *settings.correlation;
}

std::int64_t rounded_product(std::int64_t weight, std::int64_t value) {
  __extension__ using Signed = __int128;
  constexpr std::int64_t half = CorrelationWeights::one / 2;
  return static_cast<std::int64_t>((Signed{weight} * value + half) >> CorrelationWeights::digits);
}

std::array<std::uint64_t, 2> unsigned_weights(const std::array<std::int64_t, 2>& weights) {
  return {static_cast<std::uint64_t>(weights[0]), static_cast<std::uint64_t>(weights[1])};
}

/// The power of a weight, rounded down.
std::int64_t power_of_weight(std::int64_t weight, Round exponent) {
  __extension__ using Wide = unsigned __int128;
  constexpr int digits = 62;
  const auto product = [](Wide a, Wide b) { return (a * b) >> digits; };
  Wide result = Wide{1} << digits;
  for (Wide base = static_cast<Wide>(weight) << (digits - CorrelationWeights::digits); exponent > 0; exponent /= 2) {
    if (exponent % 2 != 0) result = product(result, base);
    base = product(base, base);
  }
  return static_cast<std::int64_t>(result >> (digits - CorrelationWeights::digits));
}

/// Noise that later releases take back. Wiped on destruction.
struct Chain {
  explicit Chain(std::size_t dimension) : buffers(Buffers(NoiseCorrelation::buffers * dimension)) {}
  ~Chain() { clear(); }
  Chain(const Chain&) = default;
  Chain& operator=(const Chain&) = delete;

  void clear() {
    first = last = none;
    price = 0;
    buffers.update([](Buffers& values) { wipe(values); });
  }
  void persist(Snapshot& snapshot) { snapshot(first, last, price, buffers); }

  static constexpr Round none = -1;
  Round first = none;
  Round last = none;
  double price = 0;
  Secret<Buffers> buffers;
};

class CorrelatedGaussian final : public GridMechanism<Norm::l2> {
 public:
  explicit CorrelatedGaussian(const ReleaseSettings& settings)
      : GridMechanism(settings, gaussian_reach),
        weights_(weights_of(correlation_of(settings))),
        factor_(noise_factor(*settings.correlation)),
        base_(settings.dimension),
        noise_(GaussianNoise::smallest_sigma) {
    check(
        is_whole(settings.unit),
        "unit component with correlated noise: its cost is known for records. Use --noise-correlation none, or --unit "
        "record.");
    check(settings.batch <= CorrelationLimits::batch,
          "batch={} with correlated noise: the noise and a sum of more than 2^21 records do not fit into 64-bit "
          "integers. Choose a smaller batch, or --noise-correlation none.",
          settings.batch);
    check(settings.rounds <= CorrelationLimits::rounds,
          "{} rounds with correlated noise: its rounding errors are bounded for 2^28. Use --noise-correlation none.",
          settings.rounds);
    check(settings.rounds <= most_rounds(),
          "{} rounds of correlated noise between pairs: its rounding errors are bounded for 2^20. Use "
          "--noise-correlation none, or --trust local.",
          settings.rounds);
    for (const double price : {settings.price.least, settings.price.most}) check_sigma(price);
  }
  ~CorrelatedGaussian() override { wipe(base_); }
  CorrelatedGaussian(const CorrelatedGaussian&) = delete;
  CorrelatedGaussian& operator=(const CorrelatedGaussian&) = delete;

  [[nodiscard]] Charge charge(double price) const override { return Charge::gaussian(price); }
  [[nodiscard]] PriceKind price_kind() const override { return PriceKind::mu; }
  [[nodiscard]] std::optional<double> own_deviation(double price) const override { return deviation(price); }
  [[nodiscard]] Accumulation accumulation() const override { return {.correlation = settings_.correlation}; }
  [[nodiscard]] std::string description() const override;

  void persist(Snapshot& snapshot) override;
  void begin_chains() override {
    for (auto& [place, chain] : chains_) chain.clear();
  }

 protected:
  void add_noise(const ReleaseAddress& address, double price, const NoiseKey& key,
                 std::span<std::int64_t> integers) override;

 private:
  using Place = std::pair<Client, std::uint32_t>;  // client and release index

  [[nodiscard]] double sigma(double price) const {
    return correlated_sigma(*settings_.correlation, sensitivity(price), settings_.dimension, price,
                            terms_of(settings_));
  }
  /// Of a component of the first mean.
  [[nodiscard]] double deviation(double price) const {
    return sigma(price) * step(price) / static_cast<double>(settings_.batch);
  }
  [[nodiscard]] Round most_rounds() const {
    return settings_.pairs ? PairTerms::most_rounds : CorrelationLimits::rounds;
  }
  void check_sigma(double price) const;
  [[nodiscard]] Chain& chain_at(const ReleaseAddress& address, double price);
  void skip(Buffers& buffers, Round rounds) const;
  void take_back(Buffers& buffers, std::span<std::int64_t> integers);
  void keep(const ReleaseAddress& address, Buffers& buffers, std::span<const std::int64_t> integers) const;
  /// The rounds that the noise was planned for.
  [[nodiscard]] Round planned_rounds() const {
    return std::max(settings_.rounds, settings_.correlation->uses * settings_.correlation->apart);
  }

  CorrelationWeights weights_;
  double factor_;
  std::vector<std::int64_t> base_;  ///< b of the release under way
  GaussianNoise noise_;
  double noise_price_ = 0;         ///< of noise_; 0 before the first
  std::map<Place, Chain> chains_;  ///< in an order that does not depend on who came first
};

void CorrelatedGaussian::check_sigma(double price) const {
  const double slowest = static_cast<double>(std::ranges::max(weights_.theta)) / CorrelationWeights::one;
  const double settled = std::sqrt((1 - slowest) * (1 + slowest));
  const double largest = GaussianNoise::largest_sigma * (1 - 0x1p-10) * settled;
  const double wanted = sigma(price);
  const double scale = wanted * price;
  check(wanted <= largest && wanted >= GaussianNoise::smallest_sigma,
        "mu={}: correlated noise can be drawn for {:.3g} to {:.3g}. Choose another, or --noise-correlation none.",
        price, scale / largest, scale / GaussianNoise::smallest_sigma);
  check_pairs(settings_, wanted / settled);
}

std::string CorrelatedGaussian::description() const {
  const auto range = [&](double factor) {
    return size_range(factor * deviation(settings_.price.most), factor * deviation(settings_.price.least));
  };
  const Round rounds = planned_rounds();
  const double all = norm_of_all_rounds(*settings_.correlation, rounds) / factor_;
  return clipping() +
         fmt::format(
             ", and Gaussian noise is added to each component of the mean over {} {}(s). The noise is correlated "
             "over the rounds: each release takes back a part of the noise of earlier ones. A first release has "
             "noise with a standard deviation of {}. In sums of all releases up to a round, noise with a standard "
             "deviation of {} stays (root mean square over {} rounds; independent noise of the same mu: {}). Whoever "
             "has a {} in every batch of these rounds pays {:.4g} times the mu of one release; under independent "
             "noise it would be {:.4g} times. The noise is a Gaussian rounded correctly to integers, with bits from "
             "ChaCha20 keystreams: mu holds for the arithmetic of the machine, unless that cipher is broken.",
             settings_.batch, summand_of(settings_.unit), range(1),
             range(prefix_noise(settings_.correlation, rounds) / factor_), rounds,
             range(prefix_noise(std::nullopt, rounds) / factor_), summand_of(settings_.unit), all,
             std::sqrt(static_cast<double>(rounds))) +
         in_words(settings_.pairs.get());
}

void CorrelatedGaussian::persist(Snapshot& snapshot) {
  snapshot.part("correlated noise");
  std::string correlation = settings_.correlation->text();
  snapshot(correlation);
  check<DataError>(
      correlation == settings_.correlation->text(),
      "noise with the correlation {} cannot go on with {}. Continue with the options of the run that wrote "
      "it.",
      correlation, settings_.correlation->text());
  struct Entry {
    Place place;
    std::unique_ptr<Chain> chain = std::make_unique<Chain>(0);
    void persist(Snapshot& entry) { entry(place, *chain); }
  };
  std::vector<Entry> entries;
  if (!snapshot.reading()) {
    for (auto& [place, chain] : chains_) entries.push_back({place, std::make_unique<Chain>(chain)});
  }
  snapshot.by_client(entries, [](const Entry& entry) { return entry.place.first; });
  if (!snapshot.reading()) return;
  chains_.clear();
  for (const Entry& entry : entries) {
    check<DataError>(open(entry.chain->buffers).size() == NoiseCorrelation::buffers * settings_.dimension,
                     "buffers of correlated noise for another model than one of {} components", settings_.dimension);
    chains_.try_emplace(entry.place, *entry.chain);
  }
}

Chain& CorrelatedGaussian::chain_at(const ReleaseAddress& address, double price) {
  check<FailureError>(address.block == 0 && address.round >= 0,
                      "block {} of a release in round {}: correlated noise is for one release a round", address.block,
                      address.round);
  Chain& chain = chains_.try_emplace({address.client, address.index}, settings_.dimension).first->second;
  if (chain.first == Chain::none) {
    chain.first = address.round;
    chain.price = price;
    return chain;
  }
  check<FailureError>(address.round > chain.last,
                      "a release of client {} for round {} after one for round {}: correlated noise depends on the "
                      "releases before it. Restore their state, or begin a new chain.",
                      address.client, address.round, chain.last);
  check<FailureError>(address.round - chain.first < most_rounds(),
                      "round {} of client {}: correlated noise that began in round {} is proved for {} rounds",
                      address.round, address.client, chain.first, most_rounds());
  check<FailureError>(price == chain.price,
                      "a release of client {} at a price of {} after one at {}: correlated noise has one price",
                      address.client, price, chain.price);
  return chain;
}

/// S_j ← φ_j S_j for `rounds` rounds without a release.
void CorrelatedGaussian::skip(Buffers& buffers, Round rounds) const {
  for (std::size_t j = 0; j < NoiseCorrelation::buffers; ++j) {
    const std::int64_t weight = power_of_weight(weights_.theta[j], rounds);
    const auto begin = buffers.begin() + static_cast<std::ptrdiff_t>(j * settings_.dimension);
    std::for_each_n(begin, settings_.dimension, [weight](std::int64_t& s) { s = rounded_product(weight, s); });
  }
}

/// `integers` become b; S_j becomes ⌊θ_j S_j + ½⌋.
///
/// In 64 bits, for the compiler to do several at a time: S + 2^61 = 2^31 high + low, high < 2^31, so that a weight w <
/// 2^20 has ⌊(w (S + 2^61) + 2^19)/2^20⌋ = 2^11 w high + ⌊(w low + 2^19)/2^20⌋, of which the multiple w 2^41 is taken
/// away again. Σ_j w_j < 2^20, so nothing reaches 2^63.
void CorrelatedGaussian::take_back(Buffers& buffers, std::span<std::int64_t> integers) {
  constexpr std::uint64_t offset = std::uint64_t{1} << bits_of_buffer;
  constexpr std::uint64_t low = (std::uint64_t{1} << 31) - 1;
  constexpr std::uint64_t half = CorrelationWeights::one / 2;
  const std::array<std::uint64_t, 2> omega = unsigned_weights(weights_.omega);
  const std::array<std::uint64_t, 2> theta = unsigned_weights(weights_.theta);
  std::int64_t* __restrict const x = integers.data();
  std::int64_t* __restrict const first = buffers.data();
  std::int64_t* __restrict const second = buffers.data() + integers.size();
  for (std::size_t i = 0; i < integers.size(); ++i) {
    const std::uint64_t u = static_cast<std::uint64_t>(first[i]) + offset;
    const std::uint64_t v = static_cast<std::uint64_t>(second[i]) + offset;
    const std::uint64_t part = ((omega[0] * (u >> 31) + omega[1] * (v >> 31)) << 11) +
                               ((omega[0] * (u & low) + omega[1] * (v & low) + half) >> CorrelationWeights::digits) -
                               ((omega[0] + omega[1]) << 41);
    x[i] -= static_cast<std::int64_t>(part);
    const auto kept = [](std::uint64_t weight, std::uint64_t s) {
      return static_cast<std::int64_t>(((weight * (s >> 31)) << 11) +
                                       ((weight * (s & low) + half) >> CorrelationWeights::digits) - (weight << 41));
    };
    first[i] = kept(theta[0], u);
    second[i] = kept(theta[1], v);
  }
}

/// Adds N to both buffers; `integers` are b + N.
void CorrelatedGaussian::keep(const ReleaseAddress& address, Buffers& buffers,
                              std::span<const std::int64_t> integers) const {
  std::int64_t* __restrict const first = buffers.data();
  std::int64_t* __restrict const second = buffers.data() + integers.size();
  std::int64_t bits = 0;
  for (std::size_t i = 0; i < integers.size(); ++i) {
    const std::int64_t noise = integers[i] - base_[i];
    first[i] += noise;
    second[i] += noise;
    bits |= (first[i] ^ (first[i] >> 63)) | (second[i] ^ (second[i] >> 63));
  }
  check<FailureError>(bits >> bits_of_buffer == 0,
                      "the noise generator is broken: client {}, round {}: a sum of noise beyond 2^61.", address.client,
                      address.round);
}

void CorrelatedGaussian::add_noise(const ReleaseAddress& address, double price, const NoiseKey& key,
                                   std::span<std::int64_t> integers) {
  Chain& chain = chain_at(address, price);
  if (price != noise_price_) {
    noise_ = GaussianNoise(sigma(price));
    noise_price_ = price;
  }
  chain.buffers.update([&](Buffers& buffers) {
    if (chain.last != Chain::none && address.round > chain.last + 1) skip(buffers, address.round - chain.last - 1);
    take_back(buffers, integers);
    std::ranges::fill(base_, 0);
    if (settings_.pairs) settings_.pairs->add(address, noise_.sigma(), base_);
    for (std::size_t j = 0; j < integers.size(); ++j) integers[j] += base_[j];
    Keystream& words = noise_words("gaussian-blt", noise_.sigma(), address, price, key, integers);
    for (std::size_t j = 0; j < integers.size(); ++j) base_[j] = integers[j] - base_[j];
    noise_.add(words, integers);
    keep(address, buffers, integers);
  });
  chain.last = address.round;
}

}  // namespace

// Relative errors of the few operations on positive numbers are far below 2^-40. Σ c (1 + W(1)) = 2 Σ c − 1.
double correlated_sigma(const NoiseCorrelation& correlation, Bound<Norm::l2> sensitivity, std::size_t dimension,
                        double price, const PairTerms& pairs) {
  const auto size = static_cast<double>(dimension);
  const double entries = size * static_cast<double>(CorrelationLimits::rounds);
  const double errors = (2 * weights_of(correlation).column_sum() - 1) * std::sqrt(entries);
  const double shift = pairs.shift(sensitivity.value + errors, size * static_cast<double>(PairTerms::most_rounds));
  return gaussian_sigma({noise_factor(correlation) * shift * (1 + 0x1p-40)}, price);
}

std::unique_ptr<Mechanism> make_correlated_gaussian(const ReleaseSettings& settings) {
  return std::make_unique<CorrelatedGaussian>(settings);
}

}  // namespace starling
