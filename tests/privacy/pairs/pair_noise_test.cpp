#include "privacy/pairs/pair_noise.hpp"

#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <set>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "core/snapshot.hpp"
#include "numbered_ends.hpp"
#include "plain_matrix.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/mechanism/correlated_gaussian.hpp"
#include "privacy/mechanism/releases.hpp"
#include "privacy/noise/grid.hpp"
#include "privacy/statistics.hpp"
#include "support/testing.hpp"

namespace starling::pair_noise_test {

using namespace testing_support;

using Integers = std::vector<std::int64_t>;

constexpr double sensitivity = 0x1p41;  // of a record, in integers

PairGraph ring_with_chord() {
  return PairGraph::of(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}, {1, 3}});
}

PairTerms terms(const PairGraph& graph, double ratio) {
  return PairTerms::of(graph, ratio, 0.5);
}

ReleaseSettings settings_with(const PairGraph& graph, PairNoise::Ends ends, std::size_t dimension, bool correlated) {
  ReleaseSettings settings{.price = PriceRange::of(1), .clip = 1, .batch = 1, .dimension = dimension, .rounds = 32};
  settings.run_id = "test";
  if (correlated) settings.correlation = best_correlation(32, 1);
  settings.pairs = std::make_shared<PairNoise>(terms(graph, 2), std::move(ends));
  return settings;
}

/// σ_a as the header states it.
double own_sigma(const PairTerms& terms, std::size_t dimension, const std::optional<NoiseCorrelation>& correlation) {
  const auto d = static_cast<double>(dimension);
  if (!correlation) return std::sqrt(terms.exposure) * sensitivity + 0.5 * std::sqrt(terms.rounding * d);
  double sum = 0;
  for (const double c : column_of(*correlation, 4096)) sum += c;
  const double errors = (2 * sum - 1) * std::sqrt(d * 0x1p28);
  return noise_factor(*correlation) *
         (std::sqrt(terms.exposure) * (sensitivity + errors) + 0.5 * std::sqrt(terms.rounding * d * 0x1p20));
}

/// Releases of sums of zero by all clients: noise in integers, as [round][component][client].
std::vector<Rows> noise_of(Mechanism& mechanism, Client clients, Round rounds) {
  const std::size_t dimension = mechanism.settings().dimension;
  std::vector<Rows> noise(static_cast<std::size_t>(rounds),
                          Rows(dimension, std::vector<double>(static_cast<std::size_t>(clients))));
  for (Round t = 0; t < rounds; ++t) {
    for (Client u = 0; u < clients; ++u) {
      const Vector mean =
          released(mechanism, {ReleasePath::by_itself, u, t}, 1, Vector(dimension, 0.0), NoiseKey::from_seed(5, u));
      for (std::size_t i = 0; i < dimension; ++i) {
        noise[static_cast<std::size_t>(t)][i][static_cast<std::size_t>(u)] = std::ldexp(mean[i], 40);
      }
    }
  }
  return noise;
}

/// Z with noise = C⁻¹ Z over the rounds: each round by itself where noise is not correlated.
std::vector<Rows> innovations(const std::vector<Rows>& noise, const std::optional<NoiseCorrelation>& correlation) {
  if (!correlation) return noise;
  const std::vector<double> column = column_of(*correlation, noise.size());
  std::vector<Rows> result = noise;
  for (std::size_t t = 0; t < noise.size(); ++t) {
    for (std::size_t i = 0; i < noise[t].size(); ++i) {
      for (std::size_t u = 0; u < noise[t][i].size(); ++u) {
        result[t][i][u] = 0;
        for (std::size_t s = 0; s <= t; ++s) result[t][i][u] += column[t - s] * noise[s][i][u];
      }
    }
  }
  return result;
}

/// Multiplies vectors over the clients by F⁻¹, F the lower Cholesky factor of the covariance that is claimed.
void whiten(std::vector<Rows>& vectors, const Rows& covariance) {
  const std::size_t n = covariance.size();
  Rows factor(n, std::vector<double>(n, 0));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = covariance[i][j];
      for (std::size_t k = 0; k < j; ++k) rest -= factor[i][k] * factor[j][k];
      factor[i][j] = i == j ? std::sqrt(rest) : rest / factor[j][j];
    }
  }
  for (Rows& round : vectors) {
    for (std::vector<double>& vector : round) {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < i; ++k) vector[i] -= factor[i][k] * vector[k];
        vector[i] /= factor[i][i];
      }
    }
  }
}

/// How far the covariances of whitened vectors are from those of independent standard normal ones: chi-square, with n
/// (n + 1)/2 degrees of freedom in a round and n² from one round to the next.
struct Departures {
  double within = 0;
  double between = 0;
};

Departures departures(const std::vector<Rows>& white) {
  const std::size_t n = white[0][0].size();
  const auto dimension = static_cast<double>(white[0].size());
  Departures result;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double within = 0;
      double between = 0;
      for (std::size_t t = 0; t < white.size(); ++t) {
        for (std::size_t k = 0; k < white[t].size(); ++k) {
          within += white[t][k][i] * white[t][k][j] - (i == j ? 1 : 0);
          if (t > 0) between += white[t][k][i] * white[t - 1][k][j];
        }
      }
      const double count = dimension * static_cast<double>(white.size());
      if (j <= i) result.within += within * within / (count * (i == j ? 2 : 1));
      result.between += between * between / (count - dimension);
    }
  }
  return result;
}

Departures departures_with(const PairNoise::Ends& ends, bool correlated) {
  constexpr std::size_t dimension = 400;
  const PairGraph graph = ring_with_chord();
  const ReleaseSettings settings = settings_with(graph, ends, dimension, correlated);
  const auto mechanism = mechanism_table().make("gaussian", settings);
  const double sigma = own_sigma(settings.pairs->terms(), dimension, settings.correlation);
  Rows covariance = matrix_of(graph, 2, std::vector<char>(5, 0));
  for (auto& row : covariance) {
    for (double& entry : row) entry *= sigma * sigma;
  }
  auto vectors = innovations(noise_of(*mechanism, 5, 20), settings.correlation);
  whiten(vectors, covariance);
  return departures(vectors);
}

/// Root mean squares of the sums of all releases up to each round, of zeros, in units of the own noise of a release.
std::vector<double> sums_with(const PairRounds& rounds) {
  const PairGraph graph = PairGraph::all(5);
  ReleaseSettings settings = settings_with(graph, {}, 400, false);
  settings.pairs = std::make_shared<PairNoise>(terms(graph, 2), numbered_ends(graph, 11), rounds);
  const auto mechanism = mechanism_table().make("gaussian", settings);
  const double sigma = own_sigma(settings.pairs->terms(), 400, settings.correlation);
  Vector sum(400, 0.0);
  std::vector<double> deviations;
  for (Round t = 0; t < 6; ++t) {
    for (Client u = 0; u < 5; ++u) {
      if (rounds.releases && !rounds.releases(u, t)) continue;
      const Vector mean =
          released(*mechanism, {ReleasePath::by_itself, u, t}, 1, Vector(400, 0.0), NoiseKey::from_seed(5, u));
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += std::ldexp(mean[i], 40) / sigma;
    }
    deviations.push_back(std::sqrt(dot(sum, sum) / 400));
  }
  return deviations;
}

/// Six deviations of a deviation of 400 numbers are 0.21 of it.
TEST(PairNoise, LeavesOutPairsWithAnEndThatReleasesNothing) {
  PairRounds rounds{[](Client u, Round t) { return u != 3 || (t != 1 && t < 3); }, [](Round) { return false; }};
  const std::vector<double> found = sums_with(rounds);
  const std::vector<double> releases{5, 9, 14, 18, 22, 26};
  for (std::size_t t = 0; t < releases.size(); ++t) EXPECT_NEAR(found[t] / std::sqrt(releases[t]), 1, 0.21) << t;
  rounds.uses_all = [](Round t) { return t == 1; };  // then four pairs of deviation 2 do not cancel
  EXPECT_NEAR(sums_with(rounds)[1] / std::sqrt(9 + 16), 1, 0.21);
}

/// Σ over all clients and rounds: σ_a² (I + r² L) over the clients, and C⁻¹ C⁻ᵀ over the rounds. Error rate 4·10^-4.
TEST(PairNoise, HasTheCovarianceOfItsGraph) {
  for (const bool correlated : {false, true}) {
    const Departures found = departures_with(numbered_ends(ring_with_chord(), 11), correlated);
    EXPECT_LT(found.within, chi_square_limit(15)) << "correlated: " << correlated;
    EXPECT_LT(found.between, chi_square_limit(25)) << "correlated: " << correlated;
  }
}

TEST(PairNoise, WouldNotHaveItWithAFault) {
  using Fault = std::function<void(PairNoise::Ends&)>;
  const std::vector<std::pair<const char*, Fault>> faults = {
      {"both ends of a pair add", [](PairNoise::Ends& ends) { ends[1].front().adds = 1; }},
      {"a pair is left out at one end", [](PairNoise::Ends& ends) { ends[1].pop_back(); }},
      {"a pair has the key of another", [](PairNoise::Ends& ends) { ends[3][0].key = ends[3][1].key; }}};
  for (const auto& [name, fault] : faults) {
    PairNoise::Ends ends = numbered_ends(ring_with_chord(), 11);
    fault(ends);
    EXPECT_GT(departures_with(ends, true).within, 2 * chi_square_limit(15)) << name;
  }
}

TEST(PairNoise, CancelsInTheSumToTheBit) {
  const PairGraph graph = ring_with_chord();
  PairNoise pairs(terms(graph, 2), numbered_ends(graph, 11));
  for (Round t = 0; t < 3; ++t) {
    Integers sum(300, 0);
    std::int64_t largest = 0;
    for (Client u = 0; u < 5; ++u) {
      Integers own(300, 0);
      pairs.add({ReleasePath::by_itself, u, t}, 0x1p40, own);
      for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] += own[i];
        largest = std::max(largest, std::abs(own[i]));
      }
    }
    EXPECT_THAT(sum, testing::Each(0));
    EXPECT_GT(largest, std::int64_t{1} << 41);
  }
}

/// A pair with both ends in one process is drawn once.
TEST(PairNoise, IsTheSameInOneProcessAsInSeveral) {
  const PairGraph graph = ring_with_chord();
  PairNoise together(terms(graph, 2), numbered_ends(graph, 11));
  std::vector<std::unique_ptr<PairNoise>> alone;
  for (Client u = 0; u < 5; ++u) {
    alone.push_back(std::make_unique<PairNoise>(terms(graph, 2), PairNoise::Ends{{u, numbered_ends(graph, 11).at(u)}}));
  }
  for (Round t = 0; t < 3; ++t) {
    for (Client u = 0; u < 5; ++u) {
      const ReleaseAddress address{ReleasePath::by_itself, u, t};
      Integers first(100, 7);
      Integers second(100, 7);
      together.add(address, 0x1p40 + static_cast<double>(t), first);
      alone[static_cast<std::size_t>(u)]->add(address, 0x1p40 + static_cast<double>(t), second);
      EXPECT_EQ(first, second) << "client " << u << ", round " << t;
    }
  }
}

/// The sum over all clients has the noise of their own alone, correlated noise but for the rounding of its recursion.
TEST(PairNoise, LeavesTheOwnNoiseInTheSum) {
  for (const bool correlated : {false, true}) {
    const PairGraph graph = ring_with_chord();
    const ReleaseSettings settings = settings_with(graph, numbered_ends(graph, 11), 400, correlated);
    const auto mechanism = mechanism_table().make("gaussian", settings);
    const double sigma = own_sigma(settings.pairs->terms(), 400, settings.correlation);
    std::vector<double> sums;
    for (const Rows& round : innovations(noise_of(*mechanism, 5, 20), settings.correlation)) {
      for (const std::vector<double>& clients : round) {
        double sum = 0;
        for (const double each : clients) sum += each;
        sums.push_back(sum / (sigma * std::sqrt(5.0)));
      }
    }
    const auto count = static_cast<double>(sums.size());
    EXPECT_LT(mean_square(sums) * count, chi_square_limit(count));
    EXPECT_GT(mean_square(sums), 1 - one_in_ten_thousand * std::sqrt(2 / count));
  }
}

TEST(PairNoise, MeetsNoTwoVectors) {
  const PairGraph graph = ring_with_chord();
  PairNoise pairs(terms(graph, 2), numbered_ends(graph, 11));
  const auto noise = [&](Round round, std::uint32_t index = 0) {
    Integers own(4, 0);
    pairs.add({ReleasePath::by_itself, 0, round, index}, 0x1p40, own);
    return own;
  };
  std::set<Integers> seen;
  for (Round t = 3; t < 40; ++t) {
    seen.insert(noise(t));
    seen.insert(noise(t, 1));
  }
  EXPECT_EQ(seen.size(), 74U);
  EXPECT_ERROR(FailureError, "would meet two vectors", noise(39));
  EXPECT_ERROR(FailureError, "would meet two vectors", noise(4));
}

/// Runs on other records have other noise, which cancels as before.
TEST(PairNoise, BeginsReplicationsWithOtherKeys) {
  const PairGraph graph = ring_with_chord();
  PairNoise pairs(terms(graph, 2), numbered_ends(graph, 11));
  std::set<Integers> seen;
  for (std::int64_t number = 0; number < 3; ++number) {
    pairs.begin_replication(number);
    Integers sum(50, 0);
    for (Client u = 0; u < 5; ++u) {
      Integers own(50, 0);
      pairs.add({ReleasePath::by_itself, u, 0}, 0x1p40, own);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += own[i];
      seen.insert(own);
    }
    EXPECT_THAT(sum, testing::Each(0));
  }
  EXPECT_EQ(seen.size(), 15U);
}

/// A chain that was stored goes on to the same bytes.
TEST(PairNoise, GoesOnFromACheckpoint) {
  const PairGraph graph = ring_with_chord();
  const auto make = [&] {
    return mechanism_table().make("gaussian", settings_with(graph, numbered_ends(graph, 11), 6, true));
  };
  const auto release = [](Mechanism& mechanism, Round t) {
    return released(mechanism, {ReleasePath::by_itself, 2, t}, 1, Vector(6, 0.01), NoiseKey::from_seed(5, 2));
  };
  const auto whole = make();
  const auto first = make();
  for (Round t = 0; t < 4; ++t) EXPECT_EQ(release(*first, t), release(*whole, t));
  Snapshot writing;
  first->persist(writing);
  const auto second = make();
  Snapshot reading(writing.content());
  second->persist(reading);
  for (Round t = 4; t < 8; ++t) EXPECT_EQ(release(*second, t), release(*whole, t));
}

TEST(PairNoise, RefusesWhatIsNotProved) {
  const PairGraph graph = ring_with_chord();
  const auto make = [&](const char* mechanism, const std::function<void(ReleaseSettings&)>& change, bool correlated) {
    ReleaseSettings settings = settings_with(graph, numbered_ends(graph, 11), 6, correlated);
    change(settings);
    return mechanism_table().make(mechanism, settings);
  };
  const auto nothing = [](ReleaseSettings&) {};
  EXPECT_ERROR(UsageError, "noise between pairs is Gaussian", make("laplace", nothing, false));
  for (const bool correlated : {false, true}) {
    EXPECT_NO_THROW(static_cast<void>(make("gaussian", nothing, correlated)));
    EXPECT_ERROR(UsageError, "batch=1048577",
                 make(
                     "gaussian", [](ReleaseSettings& s) { s.batch = (1 << 20) + 1; }, correlated));
    EXPECT_ERROR(UsageError, "unit component",
                 make(
                     "gaussian", [](ReleaseSettings& s) { s.unit = PrivacyUnit::component; }, correlated));
    EXPECT_ERROR(UsageError, "does not fit",
                 make(
                     "gaussian", [](ReleaseSettings& s) { s.price = PriceRange::of(0x1p-13); }, correlated));
  }
  EXPECT_ERROR(UsageError, "bounded for 2^20",
               make(
                   "gaussian", [](ReleaseSettings& s) { s.rounds = (1 << 20) + 1; }, true));
}

}  // namespace starling::pair_noise_test
