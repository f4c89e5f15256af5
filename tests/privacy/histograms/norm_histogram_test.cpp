#include "privacy/histograms/norm_histogram.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "core/check.hpp"
#include "core/random.hpp"
#include "privacy/accounting/accounting.hpp"
#include "privacy/audit/audit.hpp"
#include "privacy/histograms/price_share.hpp"
#include "privacy/mechanism/releases.hpp"
#include "support/testing.hpp"

namespace starling::norm_histogram_test {

using namespace testing_support;

constexpr std::int64_t some_records = 1000;

NormHistogram gaussian(double mu, std::int64_t records = some_records) {
  return {ChargeKind::gaussian, mu, records};
}

NormHistogram laplace(double epsilon, std::int64_t records = some_records) {
  return {ChargeKind::laplace, epsilon, records};
}

Counts counts_of(const NormHistogram& histogram, const std::vector<RowNorms>& rows) {
  Counts counts(histogram.length());
  for (const RowNorms& row : rows) histogram.count(row, counts);
  return counts;
}

TEST(NormHistogram, BinsAreOctavesFromTwoToTheMinusTwenty) {
  EXPECT_EQ(NormHistogram::bin_of(1), 20U);
  EXPECT_EQ(NormHistogram::bin_of(std::nextafter(1, 0)), 19U);
  EXPECT_EQ(NormHistogram::bin_of(0x1p-20), 0U);
  EXPECT_EQ(NormHistogram::bin_of(0x1p-1040), 0U);
  EXPECT_EQ(NormHistogram::bin_of(0x1.8p19), 39U);
  EXPECT_EQ(NormHistogram::bin_of(1e300), 39U);
  EXPECT_FALSE(NormHistogram::bin_of(0));
  EXPECT_FALSE(NormHistogram::bin_of(std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(NormHistogram::bin_of(std::numeric_limits<double>::quiet_NaN()));
}

// A record in any bin, or in none as one that is left out, in the place of any other.
TEST(NormHistogram, AReplacedRecordMovesCountsByNoMoreThanTheNoiseIsMadeFor) {
  const NormHistogram l2 = gaussian(1);
  const NormHistogram l1 = laplace(1);
  double most_l2 = 0;
  double most_l1 = 0;
  for (const double from : {0.0, 0x1p-30, 1.0, 3.0, 1e200, std::numeric_limits<double>::infinity()}) {
    for (const double to : {0.0, 0x1p-30, 1.0, 3.0, 1e200, std::numeric_limits<double>::infinity()}) {
      const Counts before = counts_of(l1, {{1, 2}, {from, 4 * from}});
      const Counts after = counts_of(l1, {{1, 2}, {to, 4 * to}});
      const Counts first = counts_of(l2, {{1, 2}, {from, 4 * from}});
      const Counts second = counts_of(l2, {{1, 2}, {to, 4 * to}});
      double squares = 0;
      double sum = 0;
      for (std::size_t i = 0; i < first.size(); ++i) squares += std::pow(first[i] - second[i], 2);
      for (std::size_t i = 0; i < before.size(); ++i) sum += std::abs(static_cast<double>(before[i] - after[i]));
      most_l2 = std::max(most_l2, squares);
      most_l1 = std::max(most_l1, sum);
    }
  }
  EXPECT_EQ(most_l2, 2);
  EXPECT_EQ(most_l1, 4);
  EXPECT_LE(std::sqrt(most_l2) * static_cast<double>(l2.unit()) / l2.scale(), l2.charge().mu);
  EXPECT_GE(std::sqrt(most_l2) * static_cast<double>(l2.unit()) / l2.scale(), l2.charge().mu * (1 - 1e-15));
  EXPECT_EQ(most_l1 * static_cast<double>(l1.unit()) / l1.scale(), l1.charge().epsilon);
}

// One histogram more, of labels: a record moves as many counts in it as in the others.
TEST(NormHistogram, CountsLabelsAtTheSamePrice) {
  for (const ChargeKind noise : {ChargeKind::gaussian, ChargeKind::laplace}) {
    const NormHistogram histogram(noise, 0.5, some_records, true);
    const std::size_t histograms = noise == ChargeKind::gaussian ? 2 : 3;
    ASSERT_EQ(histogram.length(), histograms * NormHistogram::bins);
    const Counts before = counts_of(histogram, {{1, 2, 0.3}, {4, 8, 0.3}, {1, 2, 0}});
    EXPECT_EQ(before[NormHistogram::bins * (histograms - 1) + 18], 2) << "magnitudes from 1/4 to 1/2";
    EXPECT_EQ(std::accumulate(before.begin(), before.end(), 0), static_cast<int>(3 * histograms) - 1);
    const Counts after = counts_of(histogram, {{1, 2, 0.3}, {99, 300, 7}, {1, 2, 0}});
    double squares = 0;
    double sum = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      squares += std::pow(before[i] - after[i], 2);
      sum += std::abs(static_cast<double>(before[i] - after[i]));
    }
    const double moved = noise == ChargeKind::gaussian ? std::sqrt(squares) : sum;
    const double loss = moved * static_cast<double>(histogram.unit()) / histogram.scale();
    EXPECT_LE(loss, 0.5);
    EXPECT_GE(loss, 0.5 * (1 - 1e-6));
    EXPECT_LE(histogram.charge().epsilon + histogram.charge().mu, 0.5);
    EXPECT_GE(histogram.charge().epsilon + histogram.charge().mu, loss * (1 - 1e-12));
  }
}

TEST(NormHistogram, LabelsMustStandOutFurther) {
  Vector summed(NormHistogram::bins);
  summed[20] = 140;
  EXPECT_EQ(typical_norm(summed, 100, 1000), 1);
  EXPECT_FALSE(typical_label(summed, 100, 1000));
  summed[20] = 143;
  EXPECT_EQ(typical_label(summed, 100, 1000), 2);
}

TEST(NormHistogram, CostsNoMoreThanItsPrice) {
  for (const double price : {1e-6, 0.0273, 1.0 / 3, 7.0}) {
    EXPECT_EQ(gaussian(price).charge(), Charge::gaussian(price));
    EXPECT_LE(laplace(price).charge().epsilon, price);
    EXPECT_GE(laplace(price).charge().epsilon, price * (1 - 1e-4));
  }
  EXPECT_LE(laplace(1, NormHistogram::most_records).charge().epsilon, 1e-5) << "counts must fit";
}

TEST(NormHistogram, SharesNeverCostMoreThanThePriceTogether) {
  for (const double price : {1e-3, 0.2677, 1.0, 5.3}) {
    for (const double share : {0.0001, 0.01, 0.5}) {
      for (const std::int64_t uses : {1, 3, 16}) {
        const auto times = static_cast<double>(uses);
        const PriceShare mu(ChargeKind::gaussian, share, uses);
        EXPECT_LE(std::hypot(mu.of_release(price), std::sqrt(times) * mu.of_gradients(price)),
                  std::sqrt(times) * price);
        EXPECT_NEAR(mu.of_release(price), std::sqrt(share * times) * price, 1e-13);
        const PriceShare epsilon(ChargeKind::laplace, share, uses);
        EXPECT_LE(epsilon.of_release(price) + times * epsilon.of_gradients(price), times * price);
        EXPECT_NEAR(epsilon.of_release(price), std::sqrt(share) * times * price, 1e-12);
      }
    }
  }
  EXPECT_EQ(PriceShare(ChargeKind::gaussian, 0, 1).of_gradients(0.3), 0.3);
}

TEST(NormHistogram, NoiseHasTheStatedDeviation) {
  std::array<NormHistogram, 2> both{gaussian(0.1), laplace(0.2)};
  for (NormHistogram& histogram : both) {
    const Counts counts = counts_of(histogram, {{1, 1}, {1, 1}, {5, 9}});
    double squares = 0;
    constexpr int releases = 500;
    for (int i = 0; i < releases; ++i) {
      const Vector noisy = released(histogram, counts, numbered_audit_keys(3)(0, i));
      for (std::size_t j = 0; j < noisy.size(); ++j) squares += std::pow(noisy[j] - static_cast<double>(counts[j]), 2);
    }
    const double found = std::sqrt(squares / static_cast<double>(releases * histogram.length()));
    EXPECT_NEAR(found / histogram.deviation(), 1, 0.03);
  }
  EXPECT_NEAR(gaussian(0.1).deviation(), std::sqrt(2.0) / 0.1, 1e-9);
  EXPECT_NEAR(laplace(0.2).deviation(), std::sqrt(2.0) * 4 / 0.2, 1e-7);
}

TEST(NormHistogram, TheSameCountsHaveTheSameNoiseAndOthersAnother) {
  NormHistogram histogram = gaussian(1);
  const NoiseKey key = NoiseKey::from_seed(1, 0);
  const Counts counts = counts_of(histogram, {{1, 1}});
  const Vector once = released(histogram, counts, key);
  EXPECT_EQ(once, released(histogram, counts, key));
  EXPECT_NE(once, released(histogram, counts, key, 1));
  EXPECT_NE(once[0], released(histogram, counts_of(histogram, {{1, 1}, {1, 1}}), key)[0]);
}

TEST(NormHistogram, RefusesWhatItCannotRelease) {
  NormHistogram histogram = gaussian(1, 2);
  const NoiseKey key = NoiseKey::from_seed(1, 0);
  EXPECT_NE(message_of<FailureError>([&] { return released(histogram, Counts(3), key); }), "");
  Counts more(histogram.length());
  more[5] = 3;
  EXPECT_NE(message_of<FailureError>([&] { return released(histogram, more, key); }), "");
  EXPECT_NE(message_of<UsageError>([] { NormHistogram(ChargeKind::pure, 1, 1); }), "");
  EXPECT_NE(message_of<UsageError>([] { NormHistogram(ChargeKind::gaussian, 1e-30, 1); }), "");
  EXPECT_NE(message_of<UsageError>([] { NormHistogram(ChargeKind::laplace, 1e-13, 1); }), "");
}

TEST(TypicalNorm, IsTheLowerEndOfTheMedianBin) {
  Vector sum(NormHistogram::bins);
  EXPECT_FALSE(typical_norm(sum, 3.5, 1000));
  sum[3] = 3.4;
  sum[39] = -1000;
  EXPECT_FALSE(typical_norm(sum, 3.5, 1000)) << "below the least count";
  sum[20] = 40;
  EXPECT_EQ(typical_norm(sum, 3.5, 1000), 1);
  sum[22] = 41;
  EXPECT_EQ(typical_norm(sum, 3.5, 1000), 4);
  sum[39] = 1e6;
  EXPECT_EQ(typical_norm(sum, 3.5, 1000), std::ldexp(1.0, 19));
  EXPECT_FALSE(typical_norm(sum, 1050, 1000)) << "no bin can have so many records";
}

TEST(TypicalNorm, MayBeOneOfNoise) {
  Vector sum(NormHistogram::bins);
  EXPECT_FALSE(may_be_noise(sum, 100, 1000)) << "nothing is found";
  sum[31] = 110;  // 2^11, of 60 records in each bin where they are
  EXPECT_EQ(typical_norm(sum, 100, 1000), 2048);
  EXPECT_TRUE(may_be_noise(sum, 100, 1000));
  EXPECT_FALSE(may_be_noise(sum, 100, 200)) << "half of the records";
  sum[31] = 150;
  EXPECT_FALSE(may_be_noise(sum, 100, 1000)) << "well above the noise";
}

TEST(LeastCount, IsThreeAndAHalfDeviationsOfGaussianNoise) {
  EXPECT_EQ(least_count(ChargeKind::gaussian, Vector{9, 16}), 17.5);
  EXPECT_EQ(least_count(ChargeKind::gaussian, Vector()), 0);
  EXPECT_EQ(least_count(ChargeKind::laplace, Vector()), 0);
}

// One Laplace variable of scale 1 exceeds x with e^−x/2, a sum of two with (2 + x) e^−x/4.
TEST(LeastCount, HasTheProbabilityOfTheTailUnderLaplaceNoise) {
  const double false_bin = 1 - std::sqrt(1 - std::erfc(3.5 / std::numbers::sqrt2) / 2);
  const double of_one = least_count(ChargeKind::laplace, Vector{2});
  EXPECT_NEAR(std::exp(-of_one) / 2 / false_bin, 1, 1e-3);
  const double of_two = least_count(ChargeKind::laplace, Vector{2, 2});
  EXPECT_NEAR((2 + of_two) * std::exp(-of_two) / 4 / false_bin, 1, 1e-3);
  EXPECT_NEAR(least_count(ChargeKind::laplace, Vector{200, 1e-9}), 10 * of_one, 1e-3) << "unequal prices";
  EXPECT_NEAR(of_one / std::sqrt(2.0), 5.9, 0.05);
  EXPECT_NEAR(least_count(ChargeKind::laplace, Vector(5, 0.2)), 4.4, 0.05);
  EXPECT_NEAR(least_count(ChargeKind::laplace, Vector(20, 0.05)), 3.9, 0.05);
  const double of_many = least_count(ChargeKind::laplace, Vector(100'000, 1e-5));
  EXPECT_NEAR(std::erfc(of_many / std::numbers::sqrt2) / 2 / false_bin, 1, 1e-3) << "sums of many are Gaussian";
}

// Histograms without records: the share with a bin that counts, in 20,000 trials each, is 0.93 % with four standard
// errors of 0.07 %. By 3.5 deviations it would be 25 % under the noise of one client.
TEST(LeastCount, LetsNoiseBeTakenForRecordsInAsManyRunsAsIsSaid) {
  constexpr int trials = 20'000;
  const double expected = 1 - std::pow(1 - std::erfc(3.5 / std::numbers::sqrt2) / 2, NormHistogram::bins);
  const auto share_of_false = [](ChargeKind noise, const std::vector<double>& prices) {
    std::deque<NormHistogram> clients;
    Vector variances;
    for (const double price : prices) {
      clients.emplace_back(noise, price, some_records);
      variances.push_back(std::pow(clients.back().deviation(), 2));
    }
    const double least = least_count(noise, variances);
    const Counts nothing(clients.front().length());
    int wrong = 0;
    for (int trial = 0; trial < trials; ++trial) {
      Vector sum(nothing.size());
      for (std::size_t u = 0; u < clients.size(); ++u) {
        const Vector noisy = released(clients[u], nothing, numbered_audit_keys(31)(static_cast<int>(u), trial));
        for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += noisy[j];
      }
      if (*std::max_element(sum.begin(), sum.end()) >= least) ++wrong;
    }
    return static_cast<double>(wrong) / trials;
  };
  EXPECT_NEAR(expected, 0.0093, 0.0001);
  const double error = 4 * std::sqrt(expected * (1 - expected) / trials);
  EXPECT_NEAR(share_of_false(ChargeKind::gaussian, {1}), expected, error);
  EXPECT_NEAR(share_of_false(ChargeKind::laplace, {1}), expected, error);
  EXPECT_NEAR(share_of_false(ChargeKind::laplace, {0.5, 1, 2}), expected, error);
}

// Five clients of 6,500 records and total losses of ε = 0.1, 1 at δ = 1e-5: the lower end of a bin whose middle is
// within a factor of 2 of the true median.
// (Method: at most 1 % of 300 wrong.) Norms are log-normal, or chi-like as those of 20 features.
TEST(TypicalNorm, IsWithinAFactorOfTwoOfTheTrueMedian) {
  constexpr int trials = 300;
  constexpr int clients = 5;
  constexpr int records = 6500;
  for (const double epsilon : {0.1, 1.0}) {
    int wrong = 0;
    const PriceShare share(ChargeKind::gaussian, 0.01, 1);
    NormHistogram histogram = gaussian(share.of_release(gaussian_mu(epsilon, 1e-5)), records);
    for (int trial = 0; trial < trials; ++trial) {
      AddressedRandom random(11, Purpose::experiment, static_cast<std::uint64_t>(trial), 0);
      const double centre = std::exp2(-6 + 12 * random.uniform());
      const double spread = 0.1 + random.uniform();
      std::vector<double> norms;
      Vector sum(NormHistogram::bins);
      for (Client u = 0; u < clients; ++u) {
        Counts counts(histogram.length());
        for (int i = 0; i < records; ++i) {
          norms.push_back(centre * std::exp(spread * random.normal()));
          histogram.count({norms.back(), norms.back()}, counts);
        }
        const Vector noisy = released(histogram, counts, numbered_audit_keys(9)(static_cast<int>(u), trial), u);
        for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += noisy[j];
      }
      std::nth_element(norms.begin(), norms.begin() + clients * records / 2, norms.end());
      const double truth = norms[clients * records / 2];
      const Vector variances(clients, std::pow(histogram.deviation(), 2));
      const auto found = typical_norm(sum, least_count(ChargeKind::gaussian, variances), clients * records);
      const double middle = found.value_or(0) * std::sqrt(2.0);
      if (middle > 2 * truth || middle < truth / 2) ++wrong;
    }
    EXPECT_LE(wrong, trials / 100) << epsilon;
  }
}

/// A record of one bin on side 0, of another on side 1.
AuditSubject subject_of(NormHistogram& histogram) {
  return histogram_subject(histogram, "a record with a norm of 1 or of 8",
                           {counts_of(histogram, {{1, 1}}), counts_of(histogram, {{8, 8}})});
}

TEST(NormHistogram, AnAuditDoesNotRefuteItsClaimAndComesNear) {
  NormHistogram with_gaussian = gaussian(1);
  const AuditResult of_gaussian = audit(subject_of(with_gaussian), with_gaussian.charge(), {.samples = 30'000});
  EXPECT_FALSE(of_gaussian.refuted);
  EXPECT_GE(of_gaussian.mu_lower_bound, 0.85);
  NormHistogram with_laplace = laplace(1);
  const AuditResult of_laplace = audit(subject_of(with_laplace), with_laplace.charge(), {.samples = 30'000});
  EXPECT_FALSE(of_laplace.refuted);
  EXPECT_GE(of_laplace.epsilon_lower_bound, 0.6);
}

// Noise for a sensitivity of 1 in place of √2, and of 2 in place of 4, under the claim of the honest release.
TEST(NormHistogram, AnAuditCatchesNoiseForTooLittleSensitivity) {
  NormHistogram with_gaussian = gaussian(std::sqrt(2.0));
  EXPECT_TRUE(audit(subject_of(with_gaussian), Charge::gaussian(1), {.samples = 30'000}).refuted);
  NormHistogram with_laplace = laplace(2);
  EXPECT_TRUE(audit(subject_of(with_laplace), Charge::laplace(1), {.samples = 30'000}).refuted);
}

}  // namespace starling::norm_histogram_test
