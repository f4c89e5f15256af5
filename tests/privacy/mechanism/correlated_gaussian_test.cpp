#include "privacy/mechanism/correlated_gaussian.hpp"

#include <cmath>
#include <map>

#include "core/check.hpp"
#include "core/snapshot.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/mechanism/masked_gaussian.hpp"
#include "privacy/mechanism/multipart_mechanism.hpp"
#include "privacy/mechanism/paired_mechanism.hpp"
#include "privacy/noise/gaussian_noise.hpp"
#include "privacy/noise/grid.hpp"
#include "privacy/statistics.hpp"
#include "releases.hpp"
#include "support/testing.hpp"

namespace starling::correlated_gaussian_test {

using namespace testing_support;

__extension__ using Signed = __int128;
using Integers = std::vector<std::int64_t>;

ReleaseSettings settings_for(std::size_t dimension, Round rounds = 64) {
  return {.price = PriceRange::of(1),
          .clip = 1,
          .batch = 1,
          .dimension = dimension,
          .rounds = rounds,
          .run_id = "test",
          .correlation = best_correlation(rounds, 1)};
}

std::unique_ptr<Mechanism> made(const ReleaseSettings& settings) {
  return mechanism_table().make("gaussian", settings);
}

Vector release(Mechanism& mechanism, Client client, Round round, const Vector& sum, double price = 1) {
  return released(mechanism, {ReleasePath::by_itself, client, round}, price, sum, NoiseKey::from_seed(1, client));
}

/// Integers of a sum, or of a released mean at a batch of 1: exact, as they are below 2^53.
Integers integers_of(const Vector& values) {
  Integers integers;
  for (const double value : values) integers.push_back(std::llround(std::ldexp(value, 40)));
  return integers;
}

/// A sum of one record that is different in each component and round.
Vector sum_of_round(std::size_t dimension, Round round) {
  Vector sum(dimension);
  for (std::size_t i = 0; i < dimension; ++i) {
    sum[i] = std::sin(static_cast<double>(i) + 3 * static_cast<double>(round)) / static_cast<double>(dimension);
  }
  return sum;
}

/// The recursion in 128 bits, as the header states it.
class Reference {
 public:
  Reference(const NoiseCorrelation& correlation, std::size_t dimension)
      : correlation_(correlation), buffers_{Integers(dimension), Integers(dimension)} {}

  /// x_t − ρ_t.
  [[nodiscard]] Integers base(const Integers& x) const {
    Integers result = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
      Signed sum = 0;
      for (std::size_t j = 0; j < 2; ++j) sum += weight(correlation_.omega[j]) * buffers_[j][i];
      result[i] -= nearest(sum);
    }
    return result;
  }
  void keep(const Integers& noise) {
    for (std::size_t i = 0; i < noise.size(); ++i) {
      for (std::size_t j = 0; j < 2; ++j) {
        buffers_[j][i] = nearest(weight(correlation_.theta[j]) * buffers_[j][i]) + noise[i];
      }
    }
  }
  /// Of `rounds` rounds without a release.
  void skip(Round rounds) {
    for (std::size_t j = 0; j < 2; ++j) {
      const double power = std::pow(correlation_.theta[j], static_cast<double>(rounds));
      for (std::int64_t& s : buffers_[j]) s = nearest(weight(std::ldexp(std::floor(std::ldexp(power, 20)), -20)) * s);
    }
  }
  /// N_t where `released` came out of x_t.
  Integers explain(const Integers& x, const Integers& released) {
    Integers noise = base(x);
    for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = released[i] - noise[i];
    keep(noise);
    return noise;
  }

 private:
  static Signed weight(double value) { return static_cast<Signed>(std::ldexp(value, 20)); }
  /// The integer nearest to value / 2^20, halves upwards.
  static std::int64_t nearest(Signed value) {
    const Signed doubled = 2 * value + (Signed{1} << 20);
    Signed quotient = doubled / (Signed{1} << 21);
    if (doubled % (Signed{1} << 21) < 0) --quotient;
    return static_cast<std::int64_t>(quotient);
  }

  NoiseCorrelation correlation_;
  std::array<Integers, 2> buffers_;
};

/// σ as the header states it, with the bound 2^28 on rounds.
double stated_sigma(const ReleaseSettings& settings) {
  double w = 0;
  for (std::size_t j = 0; j < 2; ++j) w += settings.correlation->omega[j] / (1 - settings.correlation->theta[j]);
  const double errors = (1 + w) / (1 - w) * std::sqrt(static_cast<double>(settings.dimension) * 0x1p28);
  return noise_factor(*settings.correlation) * (0x1p41 + errors) / settings.price.least;
}

TEST(CorrelatedGaussian, IsMadeByTheRowOfTheGaussian) {
  const auto mechanism = made(settings_for(3));
  EXPECT_EQ(mechanism->charge(0.5), Charge::gaussian(0.5));
  EXPECT_EQ(mechanism->price_kind(), PriceKind::mu);
  EXPECT_THAT(mechanism->description(), HasSubstr("correlated"));
  EXPECT_EQ(made(settings_for(3))->description(), mechanism->description());
}

// Releases follow the recursion to the last integer, and what it leaves are draws with the stated deviation: the error
// rate of the mean square of 64 000 draws is 2e-4, that of each correlation too.
TEST(CorrelatedGaussian, FollowsTheStatedRecursion) {
  constexpr std::size_t dimension = 1000;
  const ReleaseSettings settings = settings_for(dimension);
  const auto mechanism = made(settings);
  Reference reference(*settings.correlation, dimension);
  std::vector<double> draws;
  std::vector<double> in_time;
  Integers before(dimension);
  for (Round t = 0; t < 64; ++t) {
    const Vector sum = sum_of_round(dimension, t);
    const Integers noise = reference.explain(integers_of(sum), integers_of(release(*mechanism, 0, t, sum)));
    for (std::size_t i = 0; i < dimension; ++i) {
      const double z = static_cast<double>(noise[i]) / stated_sigma(settings);
      draws.push_back(z * z);
      in_time.push_back(z * static_cast<double>(before[i]) / stated_sigma(settings));
    }
    before = noise;
  }
  const double count = static_cast<double>(draws.size());
  EXPECT_NEAR(mean(draws), 1, testing_support::one_in_ten_thousand * std::sqrt(2 / count));
  EXPECT_NEAR(mean(in_time), 0, testing_support::one_in_ten_thousand / std::sqrt(count));
}

// The draw is that of the keystream for x − ρ: no other chain meets it.
TEST(CorrelatedGaussian, NoiseDependsOnWhatItIsAddedTo) {
  const ReleaseSettings settings = settings_for(4);
  const auto mechanism = made(settings);
  Reference reference(*settings.correlation, 4);
  ReleaseKeys keys;
  const double sigma = correlated_sigma(*settings.correlation, {0x1p41}, 4, 1);
  EXPECT_GE(sigma, stated_sigma(settings));
  EXPECT_LE(sigma, stated_sigma(settings) * (1 + 0x1p-38));
  for (Round t = 0; t < 5; ++t) {
    const Vector sum = sum_of_round(4, t);
    const Integers released = integers_of(release(*mechanism, 0, t, sum));
    Integers expected = reference.base(integers_of(sum));
    Keystream words(release_stream(keys, NoiseKey::from_seed(1, 0), "test", {ReleasePath::by_itself, 0, t, 0},
                                   "gaussian-blt", sigma, 0x1p-40, expected));
    GaussianNoise(sigma).add(words, expected);
    EXPECT_EQ(released, expected) << t;
    static_cast<void>(reference.explain(integers_of(sum), released));
  }
}

/// The root of the mean over rounds and components of the squares of prefix sums of the noise.
double prefix_deviation(const ReleaseSettings& settings) {
  const auto mechanism = made(settings);
  Vector sum(settings.dimension);
  std::vector<double> squares;
  for (Round t = 0; t < settings.rounds; ++t) {
    const Vector mean = release(*mechanism, 0, t, Vector(settings.dimension));
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] += mean[i];
      squares.push_back(sum[i] * sum[i]);
    }
  }
  return std::sqrt(mean(squares));
}

// Prefix sums of a component are correlated: at worst each of d = 4000 components counts once, so that the root of
// their mean square errs by 1/√(2d). Error rate 2e-4 each.
TEST(CorrelatedGaussian, SumsOfReleasesKeepLittleNoise) {
  constexpr std::size_t dimension = 4000;
  const double tolerance = testing_support::one_in_ten_thousand / std::sqrt(2.0 * dimension);
  for (const Round rounds : {64, 256}) {
    ReleaseSettings settings = settings_for(dimension, rounds);
    const double found = prefix_deviation(settings);
    EXPECT_NEAR(found / (2 * prefix_noise(settings.correlation, rounds)), 1, tolerance) << rounds;
    settings.correlation.reset();
    const double independent = prefix_deviation(settings);
    EXPECT_NEAR(independent / (2 * prefix_noise(std::nullopt, rounds)), 1, tolerance) << rounds;
    EXPECT_GT(independent / found, rounds == 64 ? 2.4 : 4) << rounds;
  }
}

/// The largest distance, in integers, between the noises that explain the same releases of neighbours and the ideal
/// column, and the norm of the difference of those noises. Rounds in `without` have no release.
struct Shift {
  double error = 0;
  double norm = 0;
};
Shift shift_of_neighbours(const std::vector<Round>& without, Round use) {
  constexpr std::size_t dimension = 200;
  constexpr Round rounds = 256;
  const ReleaseSettings settings = settings_for(dimension, rounds);
  const auto mechanism = made(settings);
  Reference data(*settings.correlation, dimension);
  Reference neighbour(*settings.correlation, dimension);
  std::array<std::vector<long double>, 2> ideal{std::vector<long double>(dimension),
                                                std::vector<long double>(dimension)};
  Shift shift;
  for (Round t = 0; t < rounds; ++t) {
    const bool skipped = std::ranges::find(without, t) != without.end();
    if (skipped) {
      data.skip(1);
      neighbour.skip(1);
    }
    const Vector sum = sum_of_round(dimension, t);
    const Integers x = integers_of(sum);
    Integers other = x;
    if (t == use) {
      for (std::size_t i = 0; i < dimension; ++i) other[i] = -x[i] + static_cast<std::int64_t>(i);
    }
    Integers released;
    Integers noise(dimension);
    Integers implied(dimension);
    if (!skipped) {
      released = integers_of(release(*mechanism, 0, t, sum));
      noise = data.explain(x, released);
      implied = neighbour.explain(other, released);
    }
    for (std::size_t i = 0; i < dimension; ++i) {
      long double wanted = 0;
      if (!skipped) {
        wanted = static_cast<long double>(x[i] - other[i]);
        for (std::size_t j = 0; j < 2; ++j) wanted += settings.correlation->omega[j] * ideal[j][i];
        const auto difference = static_cast<long double>(implied[i] - noise[i]);
        shift.error = std::max(shift.error, static_cast<double>(std::abs(difference - wanted)));
        shift.norm += static_cast<double>(difference * difference);
      }
      for (std::size_t j = 0; j < 2; ++j) ideal[j][i] = settings.correlation->theta[j] * ideal[j][i] + wanted;
    }
  }
  shift.norm = std::sqrt(shift.norm);
  return shift;
}

// Step 2 of the header's proof: (1 + W)/(1 − W) = 36 integers at T = 256; what happens is a tenth of that.
TEST(CorrelatedGaussian, RoundingMovesNoiseByLittleMoreThanTheIdealColumn) {
  const Shift shift = shift_of_neighbours({}, 3);
  EXPECT_GT(shift.error, 0.5);
  EXPECT_LT(shift.error, 5);
  Integers change = integers_of(sum_of_round(200, 3));
  double square = 0;
  for (std::size_t i = 0; i < change.size(); ++i) {
    const auto moved = 2 * static_cast<double>(change[i]) - static_cast<double>(i);
    square += moved * moved;
  }
  const double factor = noise_factor(best_correlation(256, 1));
  EXPECT_LE(shift.norm, factor * std::sqrt(square) * (1 + 1e-9));
  EXPECT_GE(shift.norm, factor * std::sqrt(square) * 0.99);
}

// Step 4: columns are no longer where rounds are left out. (Powers of one round are not rounded: the reference skips
// round by round as the mechanism does for gaps of one.)
TEST(CorrelatedGaussian, RoundsWithoutAReleaseMakeNobodyPayMore) {
  const double all = shift_of_neighbours({}, 3).norm;
  for (const std::vector<Round>& without : {std::vector<Round>{4}, {5, 7, 9}, {10, 100, 200}}) {
    const Shift shift = shift_of_neighbours(without, 3);
    EXPECT_LT(shift.error, 5);
    EXPECT_LT(shift.norm, all);
  }
}

TEST(CorrelatedGaussian, GapsMultiplyBuffersByAPowerRoundedDown) {
  const ReleaseSettings settings = settings_for(300);
  const auto mechanism = made(settings);
  Reference reference(*settings.correlation, 300);
  Round last = -1;
  for (const Round t : {0, 1, 2, 5, 6, 20, 21, 22}) {
    if (t > last + 1 && last >= 0) reference.skip(t - last - 1);
    const Vector sum = sum_of_round(300, t);
    std::vector<double> squares;
    for (const std::int64_t n : reference.explain(integers_of(sum), integers_of(release(*mechanism, 0, t, sum)))) {
      squares.push_back(std::pow(static_cast<double>(n) / stated_sigma(settings), 2));
    }
    EXPECT_NEAR(mean(squares), 1, testing_support::one_in_ten_thousand * std::sqrt(2.0 / 300)) << t;
    last = t;
  }
  // Nothing is left after a long gap: the noise is that of a chain that begins.
  const Vector late = release(*mechanism, 0, 100'000'000, Vector(300));
  EXPECT_EQ(late, release(*made(settings), 0, 100'000'000, Vector(300)));
}

TEST(CorrelatedGaussian, GoesOnFromASnapshotWithTheSameBytes) {
  const auto whole = made(settings_for(50));
  const auto first = made(settings_for(50));
  for (Round t = 0; t < 10; ++t) {
    for (const Client client : {4, 2}) {
      EXPECT_EQ(release(*first, client, t, sum_of_round(50, t)), release(*whole, client, t, sum_of_round(50, t)));
    }
  }
  Snapshot written;
  first->persist(written);
  const auto second = made(settings_for(50));
  release(*second, 7, 3, Vector(50));  // replaced by what is read
  Snapshot read(written.content());
  second->persist(read);
  EXPECT_NO_THROW(read.require_end());
  for (Round t = 12; t < 20; ++t) {
    for (const Client client : {2, 4, 5}) {
      EXPECT_EQ(release(*second, client, t, sum_of_round(50, t)), release(*whole, client, t, sum_of_round(50, t)));
    }
  }
  EXPECT_EQ(release(*second, 7, 0, Vector(50)), release(*whole, 7, 0, Vector(50)));
}

TEST(CorrelatedGaussian, RefusesSnapshotsOfOtherNoise) {
  const auto mechanism = made(settings_for(5));
  release(*mechanism, 0, 0, Vector(5));
  Snapshot written;
  mechanism->persist(written);
  Snapshot of_other_correlation(written.content());
  EXPECT_THROW(made(settings_for(5, 128))->persist(of_other_correlation), DataError);
  Snapshot of_other_model(written.content());
  EXPECT_THROW(made(settings_for(6))->persist(of_other_model), DataError);
}

// Independent noise keeps nothing.
TEST(CorrelatedGaussian, IndependentNoiseHasAnEmptySnapshot) {
  ReleaseSettings settings = settings_for(5);
  settings.correlation.reset();
  const auto mechanism = made(settings);
  release(*mechanism, 0, 0, Vector(5));
  Snapshot written;
  mechanism->persist(written);
  EXPECT_NO_THROW(Snapshot(written.content()).require_end());
}

TEST(CorrelatedGaussian, NewChainsKnowNothingOfOldOnes) {
  const auto mechanism = made(settings_for(50));
  Vector old;
  for (Round t = 0; t < 10; ++t) old = release(*mechanism, 1, t, sum_of_round(50, t));
  mechanism->begin_chains();
  const auto fresh = made(settings_for(50));
  for (Round t = 9; t < 12; ++t) {
    const Vector again = release(*mechanism, 1, t, sum_of_round(50, t));
    EXPECT_EQ(again, release(*fresh, 1, t, sum_of_round(50, t)));
    EXPECT_TRUE(t > 9 || again != old);
  }
  mechanism->begin_chains();
  EXPECT_EQ(release(*mechanism, 1, 0, Vector(50)), release(*made(settings_for(50)), 1, 0, Vector(50)));
}

// A chain that begins later draws its own noise, so that the difference of two releases of one round is no buffer:
// their noises are independent. Error rate 2e-4.
TEST(CorrelatedGaussian, ReleasesOfARoundByTwoChainsHaveIndependentNoise) {
  constexpr std::size_t dimension = 4000;
  const ReleaseSettings settings = settings_for(dimension);
  const auto mechanism = made(settings);
  Reference first(*settings.correlation, dimension);
  Integers noise;
  for (Round t = 0; t < 10; ++t) {
    noise = first.explain(Integers(dimension), integers_of(release(*mechanism, 0, t, Vector(dimension))));
  }
  mechanism->begin_chains();
  release(*mechanism, 0, 8, Vector(dimension));
  Reference second(*settings.correlation, dimension);
  mechanism->begin_chains();
  static_cast<void>(second.explain(Integers(dimension), integers_of(release(*mechanism, 0, 8, Vector(dimension)))));
  const Integers other = second.explain(Integers(dimension), integers_of(release(*mechanism, 0, 9, Vector(dimension))));
  std::vector<double> products;
  for (std::size_t i = 0; i < dimension; ++i) {
    products.push_back(static_cast<double>(noise[i]) / stated_sigma(settings) * static_cast<double>(other[i]) /
                       stated_sigma(settings));
  }
  EXPECT_NEAR(mean(products), 0, testing_support::one_in_ten_thousand / std::sqrt(1.0 * dimension));
}

TEST(CorrelatedGaussian, BytesDoNotDependOnWhoSharesTheObject) {
  std::map<std::pair<Client, Round>, Vector> apart;
  for (const Client client : {0, 1, 2}) {
    const auto own = made(settings_for(8));
    for (Round t = 0; t < 6; ++t) apart[{client, t}] = release(*own, client, t, sum_of_round(8, t + client));
  }
  const auto shared = made(settings_for(8));
  for (Round t = 0; t < 6; ++t) {
    for (Client k = 0; k < 3; ++k) {
      const Client client = t % 2 == 0 ? k : 2 - k;
      EXPECT_EQ(release(*shared, client, t, sum_of_round(8, t + client)), (apart[{client, t}]));
    }
  }
}

TEST(CorrelatedGaussian, RecordInEveryReleasePaysForTheCorrelation) {
  const auto mechanism = made(settings_for(3, 256));
  EXPECT_EQ(mechanism->accumulation().factor(0), 1);
  EXPECT_EQ(mechanism->accumulation().factor(1), 1);
  EXPECT_NEAR(mechanism->accumulation().factor(256) * 16, 113, 1);
  EXPECT_GE(mechanism->accumulation().factor(256) * 16 * noise_factor(best_correlation(256, 1)),
            norm_of_all_rounds(best_correlation(256, 1), 256));
}

TEST(CorrelatedGaussian, ClientsHaveTheirOwnPrices) {
  ReleaseSettings settings = settings_for(3);
  settings.price = {0.5, 2};
  const auto mechanism = made(settings);
  release(*mechanism, 0, 0, Vector(3), 0.5);
  release(*mechanism, 1, 0, Vector(3), 2);
  release(*mechanism, 0, 1, Vector(3), 0.5);
  EXPECT_ERROR(FailureError, "one price", release(*mechanism, 1, 1, Vector(3), 0.5));
}

TEST(CorrelatedGaussian, RefusesRoundsThatAreNotLater) {
  const auto mechanism = made(settings_for(3));
  release(*mechanism, 0, 4, Vector(3));
  for (const Round t : {4, 3}) {
    EXPECT_ERROR(FailureError, "after one for round 4", release(*mechanism, 0, t, Vector(3)));
  }
  EXPECT_THROW(release(*mechanism, 0, 4 + (Round{1} << 28), Vector(3)), FailureError);
  Released<Vector> mean(declare_public(Vector()));
  EXPECT_THROW(mechanism->release({ReleasePath::by_itself, 0, 5, 0, 1}, 1, NoiseKey::from_seed(1, 0),
                                  Secret<Vector>(Vector(3)), mean),
               FailureError);
  release(*mechanism, 0, 5, Vector(3));
}

// A sum that is refused leaves the noise as it was.
TEST(CorrelatedGaussian, RefusedSumsChangeNothing) {
  const auto mechanism = made(settings_for(2));
  const auto other = made(settings_for(2));
  for (Mechanism* one : {mechanism.get(), other.get()}) release(*one, 0, 0, Vector(2));
  EXPECT_THROW(release(*mechanism, 0, 1, Vector{2, 0}), DataError);
  EXPECT_THROW(release(*mechanism, 0, 1, Vector{std::nan(""), 0}), DataError);
  EXPECT_EQ(release(*mechanism, 0, 1, Vector(2)), release(*other, 0, 1, Vector(2)));
}

TEST(CorrelatedGaussian, RefusesSettingsThatAreNotProved) {
  const auto message = [](auto change) {
    ReleaseSettings settings = settings_for(3);
    change(settings);
    return message_of<UsageError>([&] { made(settings); });
  };
  const auto says = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(says(message([](auto& s) { s.unit = PrivacyUnit::component; }), "unit component"));
  EXPECT_TRUE(says(message([](auto& s) { s.batch = (1 << 21) + 1; }), "batch=2097153"));
  EXPECT_TRUE(says(message([](auto& s) { s.rounds = (Round{1} << 28) + 1; }), "268435457 rounds"));
  EXPECT_TRUE(says(message([](auto& s) { s.price = {1e-6, 1}; }), "mu=1e-06"));
  EXPECT_TRUE(says(message([](auto& s) { s.price = PriceRange::of(1e12); }), "mu=1000000000000"));
  EXPECT_TRUE(says(message([](auto& s) { s.correlation->omega[0] = 0.1; }), "omega=0.1"));
}

TEST(CorrelatedGaussian, ReplacementOfRootTwoNeedsLessNoise) {
  ReleaseSettings settings = settings_for(2000, 32);
  const double usual = prefix_deviation(settings);
  settings.replacement = std::sqrt(2.0);
  EXPECT_NEAR(prefix_deviation(settings) / usual, std::sqrt(0.5), 0.1);
}

TEST(CorrelatedGaussian, OtherMechanismsRefuseOrKeepItToTheirGradients) {
  const ReleaseSettings settings = settings_for(3);
  EXPECT_THROW(mechanism_table().make("laplace", settings), UsageError);
  EXPECT_THROW(MultipartMechanism("gaussian", settings, 2), UsageError);
  EXPECT_THROW(MaskedGaussian(settings, 2), UsageError);
  EXPECT_THROW(PairedMechanism("gaussian", settings, {.what = "part", .once_of = 10}), UsageError);
  PairedMechanism pair("gaussian", settings, {.what = "part in the constraints", .dimension = 2});
  EXPECT_NEAR(pair.accumulation().factor(64),
              std::sqrt(0.5 + 0.5 * std::pow(made(settings)->accumulation().factor(64), 2)), 1e-9);
  EXPECT_THROW(static_cast<void>(pair.deviation(1)), FailureError);
  Vector first = release(pair, 0, 0, Vector(3));
  static_cast<void>(release(pair, 0, 1, Vector(3)));
  Snapshot written;
  pair.persist(written);
  EXPECT_THROW(Snapshot(written.content()).require_end(), DataError);
  pair.begin_chains();
  EXPECT_EQ(release(pair, 0, 0, Vector(3)), first);
}

}  // namespace starling::correlated_gaussian_test
