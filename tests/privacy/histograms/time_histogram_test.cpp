#include "privacy/histograms/time_histogram.hpp"

#include <cmath>

#include "core/random.hpp"
#include "support/testing.hpp"

namespace starling::time_histogram_test {

using namespace testing_support;

constexpr std::int64_t persons = 20'000;
constexpr double longest = 64;

/// Events at exponential times of mean 10; later ones than 40 are not seen.
Counts counts_of_events(const TimeHistogram& histogram) {
  AddressedRandom random(3, Purpose::data, 0, 0);
  Counts counts(histogram.length());
  for (std::int64_t i = 0; i < persons; ++i) {
    const double time = -10 * std::log(random.uniform());
    if (time < 40) histogram.count(time, counts);
  }
  return counts;
}

Vector released(TimeHistogram& histogram, const Counts& counts, std::uint64_t seed) {
  Released<Vector> noisy = declare_public(Vector(histogram.length()));
  histogram.release({ReleasePath::survival_times, 0}, "run", NoiseKey::from_seed(seed, 0), Secret<Counts>(counts),
                    noisy);
  return noisy.value();
}

/// The time before which this part of the events lie.
double true_quantile(double part) {
  return -10 * std::log(1 - part * (1 - std::exp(-4)));
}

TEST(TimeHistogram, BinsEndAtTheirRight) {
  const TimeHistogram histogram(longest, 1, 10);
  Counts counts(histogram.length());
  for (const double time : {0.0, 1.0, 1.001, 64.0, 1e9}) histogram.count(time, counts);
  EXPECT_EQ(counts[0], 2);
  EXPECT_EQ(counts[1], 1);
  EXPECT_EQ(counts[63], 2);
}

TEST(TimeHistogram, EndsAreQuantilesOfEvents) {
  TimeHistogram histogram(longest, 1, persons);
  const Counts counts = counts_of_events(histogram);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Vector ends = histogram.ends(released(histogram, counts, seed), 4);
    ASSERT_EQ(ends.size(), 4U);
    for (std::size_t j = 0; j < 4; ++j) {
      const double part = TimeHistogram::part_of_events * static_cast<double>(j + 1) / 4;
      EXPECT_NEAR(ends[j], true_quantile(part), j < 3 ? 1.5 : 3) << "a bin is 1 wide, and ends are rounded up to one";
    }
  }
}

/// 6,400 draws of discrete Laplace noise: the kurtosis of 6 gives their sample deviation a standard error of 1.4 %.
TEST(TimeHistogram, NoiseHasTheStatedDeviation) {
  for (const double epsilon : {0.1, 2.0}) {
    TimeHistogram histogram(longest, epsilon, persons);
    const Counts counts = counts_of_events(histogram);
    double squares = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      const Vector noisy = released(histogram, counts, seed);
      for (std::size_t k = 0; k < noisy.size(); ++k) squares += std::pow(noisy[k] - static_cast<double>(counts[k]), 2);
    }
    EXPECT_NEAR(std::sqrt(squares / (100 * TimeHistogram::bins)) * epsilon / (2 * std::sqrt(2.0)), 1, 0.06);
    EXPECT_NEAR(histogram.deviation() * epsilon / (2 * std::sqrt(2.0)), 1, 1e-6);
    EXPECT_DOUBLE_EQ(histogram.deviation_of_sum(), 8 * histogram.deviation());
  }
}

// Replacing a person moves one event to another bin: two counts, and the loss of their Laplace noise is the price.
TEST(TimeHistogram, APersonCostsThePrice) {
  const TimeHistogram histogram(longest, 0.3, persons);
  EXPECT_LE(2 * static_cast<double>(histogram.unit()) / histogram.scale(), 0.3);
  EXPECT_NEAR(2 * static_cast<double>(histogram.unit()) / histogram.scale(), 0.3, 1e-6);
}

TEST(TimeHistogram, EndsAscendWhateverNoiseDoes) {
  const TimeHistogram histogram(longest, 1, persons);
  Vector noisy(TimeHistogram::bins, 0.0);
  noisy[3] = 100;
  noisy[4] = -30;
  EXPECT_EQ(histogram.ends(noisy, 8), Vector{4}) << "all events in one bin";
  EXPECT_EQ(histogram.ends(Vector(TimeHistogram::bins, -1.0), 8), Vector{longest}) << "no event is left";
}

}  // namespace starling::time_histogram_test
