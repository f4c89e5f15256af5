#include "generators.hpp"
#include <string>

#include "starling/core/check.hpp"

namespace starling {

namespace {

/// Range of a parameter over clients; a single number where the parameter is the same for all clients.
struct Range {
  double low = 0;
  double high = 0;

  /// Value at a uniform draw: exactly `low` for a single number.
  [[nodiscard]] double at(double uniform) const { return low + (high - low) * uniform; }
};

constexpr double largest = 1e6;

/// `0.2`, or `0..0.3`.
Range range_within(const Spec& spec, const char* key, double otherwise, double least) {
  const auto given = spec.find(key);
  if (!given) return {otherwise, otherwise};
  const std::string what = fmt::format("'{}', {}", spec.text(), key);
  const auto dots = given->find("..");
  Range range;
  range.low = parse_number(given->substr(0, dots), what);
  range.high = dots == std::string::npos ? range.low : parse_number(given->substr(dots + 2), what);
  check(range.low >= least && range.high <= largest && range.low <= range.high,
        "'{}': {}={} (it must lie between {} and {}, and a range LOW..HIGH must not fall)", spec.text(), key, *given,
        least, largest);
  return range;
}

/// y = 1 with probability r/(1 + r), else −1; x = y μ 1 + σ N(0, I).
class TwoGaussians final : public Generator {
 public:
  TwoGaussians(std::size_t features, Range mean, Range deviation, double positive, std::int64_t records,
               const Audience& audience)
      : features_(features),
        mean_(mean),
        deviation_(deviation),
        positive_(positive),
        records_(records),
        audience_(audience) {}

  [[nodiscard]] std::size_t features() const override { return features_; }
  [[nodiscard]] std::int64_t records() const override { return records_; }

  [[nodiscard]] double draw(Round t, Client client, AddressedRandom& random, MutableView values) const override {
    // A client's own μ and σ, the same in every round. In a test set the clients take turns, record by record.
    const Client alike = audience_.test_of > 0 ? static_cast<Client>((t - 1) % audience_.test_of) : client;
    AddressedRandom own(audience_.seed, Purpose::data, static_cast<std::uint64_t>(alike), 0);  // no round's address
    const double mean = mean_.at(own.uniform());
    const double deviation = deviation_.at(own.uniform());
    const double y = random.uniform() < positive_ ? 1 : -1;
    for (double& value : values) value = y * mean + deviation * random.normal();
    return y;
  }

 private:
  std::size_t features_;
  Range mean_;
  Range deviation_;
  double positive_;
  std::int64_t records_;
  Audience audience_;
};

}  // namespace

std::unique_ptr<Generator> make_two_gaussians(const Spec& spec, const Audience& audience) {
  const long long features = integer_within(spec, "p", 50, 1, 100'000'000);
  const Range mean = range_within(spec, "mu", 0.2, -largest);
  const Range deviation = range_within(spec, "sigma", 1, 0);
  const double ratio = number_within(spec, "ratio", 1, 1e-9, 1e9);
  const long long records = integer_within(spec, "n", 0, 0, 1'000'000'000'000);
  return std::make_unique<TwoGaussians>(static_cast<std::size_t>(features), mean, deviation, ratio / (1 + ratio),
                                        records, audience);
}

}  // namespace starling
