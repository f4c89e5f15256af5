// Counts whose noise clients share in pairs.
#include <array>
#include <cmath>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "privacy/audit/audit.hpp"
#include "privacy/histograms/feature_histograms.hpp"
#include "privacy/histograms/feature_means.hpp"
#include "privacy/mechanism/releases.hpp"
#include "privacy/pairs/numbered_ends.hpp"
#include "privacy/pairs/pair_price.hpp"
#include "support/testing.hpp"

namespace starling::counts_in_pairs_test {

using namespace testing_support;

constexpr double unit = 0x1p20;
constexpr std::int64_t some_records = 1000;

PairTerms terms_of(const PairGraph& graph, double ratio, Client colluding) {
  return PairTerms::of(graph, ratio, exposure(graph, ratio, colluding));
}

Vector released_in_pairs(NoisyCounts& counts, const Counts& own, Client u, PairNoise& pairs, std::uint64_t seed = 1) {
  Released<Vector> noisy(declare_public(Vector()));
  counts.release({ReleasePath::by_itself, u}, "test", NoiseKey::from_seed(seed, u), Secret<Counts>(own), noisy, &pairs);
  return noisy.value();
}

TEST(CountsInPairs, NoiseOfAClientIsThatOfTheExposureAndOfARoundedFlow) {
  const PairGraph ring = PairGraph::of(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}, {1, 3}});
  const PairTerms terms = terms_of(ring, 2, 1);
  const double rounding = 4 * 2 * 2 + 2 * 3 * 3 - 4 + 6 / 4.0;  // three clients with two partners, two with three
  EXPECT_DOUBLE_EQ(terms.rounding, rounding);
  const NoisyCounts counts(FeatureHistograms::form_of(7), ChargeKind::gaussian, 0.5, some_records, terms);
  const double expected = (std::sqrt(14 * terms.exposure) * unit + std::sqrt(rounding * 14) / 2) / 0.5;
  EXPECT_NEAR(counts.scale(), expected, expected * 1e-9);
  EXPECT_EQ(counts.charge().mu, 0.5);
  const NoisyCounts sums(FeatureMeans::form_of({.features = 7}), ChargeKind::gaussian, 0.5, some_records, terms);
  const double of_sums = (std::sqrt(terms.exposure) * unit + std::sqrt(rounding * 14) / 2) / 0.5;
  EXPECT_NEAR(sums.scale(), of_sums, of_sums * 1e-9);
}

/// Releases of all clients, of which client 2 has no records.
class OfAll {
 public:
  OfAll() : pairs_(terms, numbered_ends(graph, 7)) {
    for (Client u = 0; u < graph.clients(); ++u) {
      own.emplace_back(form.length());
      if (u != 2) own.back()[static_cast<std::size_t>(u)] = some_records;
      NoisyCounts counts(form, ChargeKind::gaussian, 0.5, u == 2 ? 0 : some_records, terms);
      released.push_back(released_in_pairs(counts, own.back(), u, pairs_));
      deviation = counts.deviation();
    }
  }

  const PairGraph graph = PairGraph::all(5);
  const PairTerms terms = terms_of(graph, 3, 1);
  const NoisyCounts::Form form = FeatureHistograms::form_of(31);
  std::vector<Counts> own;
  std::vector<Vector> released;
  double deviation = 0;

 private:
  PairNoise pairs_;
};

double mean_square(View values) {
  return dot(values, values) / static_cast<double>(values.size());
}

TEST(CountsInPairs, TheSumHasTheNoiseOfTheClientsOwnAlone) {
  const OfAll all;
  const std::size_t length = all.form.length();
  Vector sum(length, 0.0);
  const double error = 5 * std::sqrt(2 / static_cast<double>(length));
  for (std::size_t u = 0; u < all.released.size(); ++u) {
    Vector noise = all.released[u];
    for (std::size_t i = 0; i < length; ++i) noise[i] -= static_cast<double>(all.own[u][i]);
    const double whole = all.deviation * all.terms.whole();
    EXPECT_NEAR(mean_square(noise) / (whole * whole), 1, error);
    axpy(1, noise, sum);
  }
  const double expected = 5 * all.deviation * all.deviation;
  EXPECT_NEAR(mean_square(sum) / expected, 1, error);
  const double local = NoisyCounts(all.form, ChargeKind::gaussian, 0.5, some_records).deviation();
  EXPECT_NEAR(expected / (5 * local * local), all.terms.exposure, 1e-4);
}

// What the clients' own noise leaves of a release is its counts and its pairs' noise, to the bit.
TEST(CountsInPairs, NoiseOfPairsCancelsToTheBit) {
  const OfAll all;
  PairNoise again(all.terms, numbered_ends(all.graph, 7));
  std::vector<std::int64_t> sum(all.form.length());
  for (Client u = 0; u < all.graph.clients(); ++u) {
    std::vector<std::int64_t> of_pairs(all.form.length());
    again.add({ReleasePath::by_itself, u}, all.deviation * unit, of_pairs);
    Vector rest = all.released[static_cast<std::size_t>(u)];
    for (std::size_t i = 0; i < rest.size(); ++i) {
      sum[i] += of_pairs[i];
      rest[i] -= static_cast<double>(all.own[static_cast<std::size_t>(u)][i]) + static_cast<double>(of_pairs[i]) / unit;
    }
    EXPECT_NEAR(mean_square(rest) / (all.deviation * all.deviation), 1, 0.15);
  }
  EXPECT_EQ(sum, std::vector<std::int64_t>(all.form.length()));
}

TEST(CountsInPairs, TheSameRecordsGiveTheSameBytes) {
  EXPECT_EQ(OfAll().released, OfAll().released);
}

/// The best sum of the releases of four clients for one who pools what it knows with client 3 and looks for a record of
/// client 0, in counts of client 0.
AuditSubject subject_of(NoisyCounts& counts, const PairTerms& terms, const std::array<Counts, 2>& of_first) {
  AuditSubject subject = histogram_subject(counts, "a record in another bin, among three honest clients", of_first);
  const double alone = 1 / (1 + 3 * terms.ratio * terms.ratio);
  const double weight = (1 - alone) / (1 + 2 * alone);  // of the others: (I + r² L)⁻¹, the first weighing 1
  subject.observe = [&counts, terms, of_first, weight](int side, std::int64_t sample, MutableView seen) {
    const auto seed = static_cast<std::uint64_t>(2 * sample + side);
    const PairGraph graph = PairGraph::all(4);
    PairNoise pairs(terms, numbered_ends(graph, seed));
    PairNoise of_last(terms, numbered_ends(PairGraph::of(4, {{0, 3}, {1, 3}, {2, 3}}), seed));
    std::ranges::fill(seen, 0.0);
    for (Client u = 0; u < 3; ++u) {
      const Counts own = u == 0 ? of_first[static_cast<std::size_t>(side)] : Counts(counts.length());
      Vector left = released_in_pairs(counts, own, u, pairs, seed);
      std::vector<std::int64_t> known(counts.length());
      of_last.add({ReleasePath::by_itself, u}, counts.scale(), known);
      for (std::size_t i = 0; i < seen.size(); ++i)
        seen[i] += (u == 0 ? 1 : weight) * (left[i] - static_cast<double>(known[i]) / unit);
    }
  };
  return subject;
}

TEST(CountsInPairs, AnAuditOfACoalitionDoesNotRefuteTheirClaimAndComesNear) {
  const PairTerms terms = terms_of(PairGraph::all(4), 5, 1);
  NoisyCounts counts({"histogram", "--share", "test", 1, 3}, ChargeKind::gaussian, 1, 1, terms);
  const AuditResult result =
      audit(subject_of(counts, terms, {Counts{1, 0, 0}, {0, 1, 0}}), counts.charge(), {.samples = 20'000});
  EXPECT_FALSE(result.refuted);
  EXPECT_GE(result.mu_lower_bound, 0.85);
}

// Noise as if the colluding client hid the others too, and more.
TEST(CountsInPairs, AnAuditCatchesAnExposureThatIsTooSmall) {
  PairTerms terms = terms_of(PairGraph::all(4), 5, 1);
  terms.exposure /= 2;
  NoisyCounts counts({"histogram", "--share", "test", 1, 3}, ChargeKind::gaussian, 1, 1, terms);
  EXPECT_TRUE(
      audit(subject_of(counts, terms, {Counts{1, 0, 0}, {0, 1, 0}}), counts.charge(), {.samples = 20'000}).refuted);
}

TEST(CountsInPairs, WhatIsNotProvedIsRefused) {
  const PairGraph graph = PairGraph::all(4);
  const PairTerms terms = terms_of(graph, 2, 1);
  const NoisyCounts::Form form = FeatureHistograms::form_of(1);
  NoisyCounts counts(form, ChargeKind::gaussian, 1, some_records, terms);
  EXPECT_NE(message_of<FailureError>([&] { released(counts, Counts(form.length()), NoiseKey::from_seed(1, 0)); }), "");
  PairNoise pairs(terms, numbered_ends(graph, 1));
  released_in_pairs(counts, Counts(form.length()), 0, pairs);
  EXPECT_THAT(message_of<FailureError>([&] { released_in_pairs(counts, Counts(form.length()), 0, pairs); }),
              HasSubstr("two vectors"));
  NoisyCounts alone(form, ChargeKind::gaussian, 1, some_records);
  EXPECT_NE(message_of<FailureError>([&] { released_in_pairs(alone, Counts(form.length()), 1, pairs); }), "");
  EXPECT_NE(message_of<FailureError>([&] { NoisyCounts(form, ChargeKind::laplace, 1, some_records, terms); }), "");
  EXPECT_THAT(message_of<UsageError>([&] { NoisyCounts(form, ChargeKind::gaussian, 5e-11, some_records, terms); }),
              HasSubstr("pairs"));
}

}  // namespace starling::counts_in_pairs_test
