#include <string>

#include "core/check.hpp"
#include "generators.hpp"

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
        "'{}': {}={}: it must lie between {} and {}, and a range LOW..HIGH must not fall.", spec.text(), key, *given,
        least, largest);
  return range;
}

}  // namespace

/// y = 1 with probability r/(1 + r), else −1; x = y μ 1 + σ N(0, I).
std::unique_ptr<Generator> make_two_gaussians(const Spec& spec, const Audience& audience) {
  const std::size_t features = features_of(spec, "p", 50);
  const Range means = range_within(spec, "mu", 0.2, -largest);
  const Range deviations = range_within(spec, "sigma", 1, 0);
  const double ratio = number_within(spec, "ratio", 1, 1e-9, 1e9);
  const double positive = ratio / (1 + ratio);
  const auto draw = [=](Round t, Client client, AddressedRandom& random, MutableView values) {
    // A client's own μ and σ, the same in every round. In a test set the clients take turns, record by record.
    const Client alike = audience.test_of > 0 ? static_cast<Client>((t - 1) % audience.test_of) : client;
    AddressedRandom own(audience.seed, Purpose::data, static_cast<std::uint64_t>(alike), 0);  // no round's address
    const double mean = means.at(own.uniform());
    const double deviation = deviations.at(own.uniform());
    const double y = random.uniform() < positive ? 1 : -1;
    for (double& value : values) value = y * mean + deviation * random.normal();
    return y;
  };
  return std::make_unique<Generator>(features, records_of(spec), draw);
}

}  // namespace starling
