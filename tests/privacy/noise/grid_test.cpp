#include "privacy/noise/grid.hpp"

#include <cstdlib>
#include <limits>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "core/random.hpp"
#include "privacy/mechanism/releases.hpp"
#include "privacy/zero_noise.hpp"
#include "support/testing.hpp"

namespace starling::grid_test {

using namespace testing_support;
using Integers = std::vector<std::int64_t>;

ReleaseSettings settings_of(double epsilon, std::size_t batch, std::size_t dimension,
                            PrivacyUnit unit = PrivacyUnit::record) {
  return {.price = PriceRange::of(epsilon), .unit = unit, .batch = batch, .dimension = dimension, .run_id = "test"};
}

double price_of(const Mechanism& mechanism) {
  return mechanism.settings().price.least;
}

/// N at the settings' price.
template <Norm norm>
std::int64_t reach_of(const ZeroNoise<norm>& mechanism) {
  return mechanism.reach(price_of(mechanism));
}

/// Of Laplace noise.
Grid grid_of(const ReleaseSettings& settings) {
  return make_grid(settings, Norm::l1, laplace_reach(settings.price.least), laplace_reach(settings.price.most));
}

/// A record as a linear model sees it: a row and the derivative of the loss.
struct Record {
  Vector row;
  double derivative = 0;
};

/// Adds the record's gradient, clipped as `clip` asks, in the arithmetic of the model room.
void add_clipped(const Record& record, const Clip& clip, Vector& sum) {
  if (clip.kind == ClipKind::component) {
    for (std::size_t j = 0; j < sum.size(); ++j) {
      sum[j] += std::min(std::max(record.derivative * record.row[j], -clip.bound), clip.bound);
    }
    return;
  }
  const double of_row = clip.kind == ClipKind::l1 ? norm1(record.row) : std::sqrt(dot(record.row, record.row));
  const double norm = std::abs(record.derivative) * of_row;
  const double factor = norm > clip.bound ? clip.bound / norm : 1;
  axpy(factor * record.derivative, record.row, sum);
}

/// The integers that a batch's release would add noise to.
template <Norm norm>
Integers integers_of(ZeroNoise<norm>& mechanism, const std::vector<Record>& batch) {
  Vector sum(mechanism.settings().dimension);
  for (const Record& record : batch) add_clipped(record, mechanism.clip(), sum);
  released(mechanism, {}, price_of(mechanism), sum);
  return mechanism.integers();
}

/// ‖a − b‖₁.
std::int64_t distance(const Integers& a, const Integers& b) {
  std::int64_t total = 0;
  for (std::size_t j = 0; j < a.size(); ++j) total += std::abs(a[j] - b[j]);
  return total;
}

/// ‖a − b‖₂², exactly.
__extension__ using Wide = unsigned __int128;
Wide squared_distance(const Integers& a, const Integers& b) {
  Wide total = 0;
  for (std::size_t j = 0; j < a.size(); ++j) {
    const auto gap = static_cast<std::uint64_t>(std::abs(a[j] - b[j]));
    total += static_cast<Wide>(gap) * gap;
  }
  return total;
}

/// Rows of many shapes: dense, a single spike, tiny, huge.
Record random_record(AddressedRandom& random, std::size_t d) {
  Record record{Vector(d), 0};
  const std::uint64_t shape = random.below(4);
  const double size = std::exp(random.normal() * (shape == 3 ? 100 : 2));
  for (double& value : record.row) value = random.normal() * size;
  if (shape == 1) {
    std::fill(record.row.begin(), record.row.end(), 0.0);
    record.row[random.below(d)] = size;
  }
  record.derivative = (random.below(2) == 0 ? -1 : 1) * std::exp(random.normal() * (shape == 2 ? 20 : 1));
  return record;
}

/// Same row, opposite gradient: the furthest that a replacement can go.
Record opposite(Record record) {
  record.derivative = -record.derivative;
  return record;
}

/// The furthest that the integers of a batch move where one of its records is replaced, by its opposite or by any
/// other.
template <Norm norm, class Distance>
Distance furthest_move(ZeroNoise<norm>& mechanism, std::uint64_t seed, int trials,
                       Distance (*distance_of)(const Integers&, const Integers&)) {
  const std::size_t m = mechanism.settings().batch;
  const std::size_t d = mechanism.settings().dimension;
  AddressedRandom random(seed, Purpose::experiment, m, d);
  Distance furthest = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<Record> batch;
    while (batch.size() < m) batch.push_back(random_record(random, d));
    const Integers before = integers_of(mechanism, batch);
    Record& replaced = batch[random.below(m)];
    replaced = trial % 2 == 0 ? opposite(replaced) : random_record(random, d);
    furthest = std::max(furthest, distance_of(before, integers_of(mechanism, batch)));
  }
  return furthest;
}

/// Bound on the factor by which rounding changes the distance between two vectors of integers: the first form in
/// grid.hpp, in extended precision.
long double errors_of(std::size_t batch, std::size_t dimension) {
  const long double u = 0x1p-53L;
  const auto gamma = [u](long double k) { return k * u / (1 - k * u); };
  const auto m = static_cast<long double>(batch);
  return (1 + 8 * u) * (1 + gamma(static_cast<long double>(dimension) + 16)) *
         (1 + m * gamma(m) + u * m * (1 + gamma(m)));
}

TEST(Grid, ChargesExactlyTwoReachesOverTheScale) {
  const ZeroNoise<Norm::l1> mechanism(settings_of(0.1, 1, 5));
  EXPECT_EQ(mechanism.reach(0.1), 54975581388);  // ⌊0.1 · 2^39⌋
  EXPECT_DOUBLE_EQ(mechanism.step(0.1) * 54975581388.0, 1);
  EXPECT_EQ(laplace_epsilon(mechanism.sensitivity(0.1)), 2 * 54975581388.0 / 0x1p40);
  const Grid& grid = mechanism.grid();
  EXPECT_EQ(grid.margin, 0x1p-20);
  EXPECT_EQ(grid.clip.kind, ClipKind::l1);
  EXPECT_EQ(grid.clip.bound, 1 - 0x1p-20);
}

// The inequality of the header, for all corners.
TEST(Grid, MarginCoversEveryErrorOfTheProof) {
  int made = 0;
  for (const double epsilon : {1e-6, 0.01, 0.1, 1.0, 10.0}) {
    for (const std::size_t batch : {1U, 32U, 4096U, 1U << 16U, 1U << 19U}) {
      for (const std::size_t dimension : {1U, 5U, 1000U, 1U << 18U, 1U << 24U}) {
        const ReleaseSettings settings = settings_of(epsilon, batch, dimension);
        if (!message_of([&] { return grid_of(settings); }).empty()) continue;
        const Grid grid = grid_of(settings);
        const auto d = static_cast<long double>(dimension);
        const auto reach = static_cast<long double>(laplace_reach(epsilon));
        const auto margin = static_cast<long double>(grid.margin);
        EXPECT_LE(2 * reach * (1 - margin) * errors_of(batch, dimension) + d + 1, 2 * reach);
        ++made;
      }
    }
  }
  EXPECT_GT(made, 90);
}

TEST(Grid, WidensTheMarginForManyRecordsAndManyComponents) {
  EXPECT_GT(grid_of(settings_of(1, 1 << 18, 5)).margin, 0x1p-20);
  EXPECT_GT(grid_of(settings_of(0.1, 1, 1000000)).margin, 0x1p-20);
  EXPECT_EQ(grid_of(settings_of(0.1, 1, 1000000, PrivacyUnit::component)).margin, 0x1p-20);
}

TEST(Grid, RefusesWhatItCannotProve) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto refusal = [](const ReleaseSettings& settings) {
    return message_of<UsageError>([&] { return grid_of(settings); });
  };
  for (const double epsilon : {0.0, -1.0, infinity, std::nan(""), 1e-12, 1e8}) {
    EXPECT_THAT(refusal(settings_of(epsilon, 1, 5)), HasSubstr("epsilon=")) << epsilon;
  }
  for (const double clip : {0.0, -1.0, infinity, std::nan(""), 1e-200, 1e200}) {
    ReleaseSettings settings = settings_of(1, 1, 5);
    settings.clip = clip;
    EXPECT_THAT(refusal(settings), HasSubstr("clip=")) << clip;
  }
  EXPECT_THAT(refusal(settings_of(1, 0, 5)), HasSubstr("batch="));
  EXPECT_THAT(refusal(settings_of(1, 1, 0)), HasSubstr("dimension="));
  // Half the clip would go into rounding: too many components for so few integers, or too many records to add.
  const std::string components = refusal(settings_of(1e-6, 8, 1 << 20));
  for (const char* part : {"epsilon=1e-06", "batch=8", "dimension=1048576", "Choose"}) {
    EXPECT_THAT(components, HasSubstr(part));
  }
  EXPECT_NE(refusal(settings_of(1e-3, std::size_t{1} << 27U, 5)), "");
  // Sums that do not fit into 62 bits.
  EXPECT_THAT(refusal(settings_of(10, 1 << 20, 5)), HasSubstr("64-bit"));
}

/// A curvature w x xᵀ as the packed triangle whose Euclidean norm is its Frobenius norm, added to `sum`.
void add_curvature(double w, const Vector& x, Vector& sum) {
  std::size_t at = 0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    for (std::size_t k = j; k < x.size(); ++k) sum[at++] += w * x[j] * x[k] * (j == k ? 1 : std::sqrt(2.0));
  }
}

// Replacing one curvature moves the integers by at most √2 N, and by nearly as much where rows are orthogonal.
TEST(Grid, ReplacedCurvaturesMoveBySqrtTwo) {
  constexpr std::size_t p = 4;
  ReleaseSettings settings = settings_of(1, 3, p * (p + 1) / 2);
  settings.replacement = std::sqrt(2.0);
  ZeroNoise<Norm::l2> mechanism(settings);
  const double reach = static_cast<double>(mechanism.reach(1));
  EXPECT_GE(mechanism.sensitivity(1).value, std::sqrt(2.0L) * reach);
  EXPECT_LE(mechanism.sensitivity(1).value, std::sqrt(2.0) * reach * (1 + 1e-15));
  AddressedRandom random(9, Purpose::experiment, 0, 0);
  const auto integers = [&](const std::vector<Vector>& rows) {
    Vector sum(settings.dimension);
    for (const Vector& x : rows) add_curvature(mechanism.clip().bound / dot(x, x), x, sum);
    released(mechanism, {}, 1, sum);
    return mechanism.integers();
  };
  double furthest = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Vector> rows(3, Vector(p));
    for (Vector& x : rows) {
      for (double& value : x) value = random.normal() * std::exp(5 * random.normal());
    }
    const Integers before = integers(rows);
    rows[0] = {rows[0][1], -rows[0][0], trial % 2 == 0 ? 0 : random.normal(), 0};
    const Integers after = integers(rows);
    long double square = 0;
    for (std::size_t j = 0; j < before.size(); ++j) {
      square += std::pow(static_cast<long double>(before[j] - after[j]), 2);
    }
    EXPECT_LE(square, 2.0L * reach * reach);
    furthest = std::max(furthest, static_cast<double>(std::sqrt(square)));
  }
  EXPECT_GT(furthest, 0.999 * std::sqrt(2.0) * reach);
}

TEST(Grid, SqrtTwoIsForVectorsInL2Alone) {
  ReleaseSettings settings = settings_of(1, 3, 10);
  settings.replacement = std::sqrt(2.0);
  EXPECT_ERROR(UsageError, "2 is proved", grid_of(settings));
  settings.unit = PrivacyUnit::component;
  EXPECT_THROW(ZeroNoise<Norm::l2>{settings}, UsageError);
  settings.unit = PrivacyUnit::record;
  settings.replacement = 1.4;
  EXPECT_THROW(ZeroNoise<Norm::l2>{settings}, UsageError);
}

class Sensitivity : public testing::TestWithParam<std::tuple<double, std::size_t, std::size_t>> {};

// Replacing one record moves the integers by at most 2·N1, for any batch and any replacement, at both clip extremes.
TEST_P(Sensitivity, OfTheIntegersIsAtMostTwoReaches) {
  const auto [epsilon, m, d] = GetParam();
  ZeroNoise<Norm::l1> mechanism(settings_of(epsilon, m, d));
  const std::int64_t furthest = furthest_move(mechanism, 7, 200, &distance);
  EXPECT_LE(furthest, 2 * reach_of(mechanism));
  // The trials come near the bound: a sensitivity of C instead of 2C would be seen.
  const auto reach = static_cast<double>(reach_of(mechanism));
  EXPECT_GE(static_cast<double>(furthest), 2 * reach * (1 - 2 * mechanism.grid().margin) - 2);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Sensitivity,
                         testing::Values(std::tuple{0.1, 1, 1}, std::tuple{0.1, 1, 5}, std::tuple{1.0, 7, 5},
                                         std::tuple{1.0, 100, 33}, std::tuple{1e-9, 1, 3}, std::tuple{1e-8, 3, 40},
                                         std::tuple{1000.0, 20, 10}));

// Coarse integers make rounding matter: N1 = 54 here, d = 20, and the margin is 0.19.
TEST(Grid, KeepsTheSensitivityWhereRoundingIsLarge) {
  ZeroNoise<Norm::l1> mechanism(settings_of(1e-10, 4, 20));
  EXPECT_EQ(reach_of(mechanism), 54);
  EXPECT_LE(furthest_move(mechanism, 8, 2000, &distance), 2 * reach_of(mechanism));
}

TEST(Grid, KeepsTheSensitivityOfManyRecordsAndComponents) {
  for (const auto& [m, d] : {std::pair<std::size_t, std::size_t>{200000, 3}, {2, 200000}}) {
    ZeroNoise<Norm::l1> mechanism(settings_of(0.5, m, d));
    EXPECT_LE(furthest_move(mechanism, 9, 1, &distance), 2 * reach_of(mechanism));
  }
}

TEST(GaussianGrid, ClipsInL2AndHasOneReachForAllPrices) {
  const ZeroNoise<Norm::l2> mechanism(settings_of(0.1, 4, 100));
  EXPECT_EQ(mechanism.clip().kind, ClipKind::l2);
  EXPECT_EQ(mechanism.reach(0.1), std::int64_t{1} << 40);
  EXPECT_EQ(mechanism.reach(10), std::int64_t{1} << 40);
  EXPECT_EQ(mechanism.step(0.1), 0x1p-40);
  EXPECT_EQ(mechanism.grid().margin, 0x1p-20);
  // μ is never more than what is paid: σ is rounded up.
  for (const double mu : {1e-3, 0.1, 0.3, 1.0, 7.0}) {
    EXPECT_GE(static_cast<long double>(gaussian_sigma(mechanism.sensitivity(mu), mu)) * static_cast<long double>(mu),
              0x1p41L);
  }
}

TEST(GaussianGrid, MarginCoversEveryErrorOfTheProof) {
  for (const std::size_t batch : {1U, 32U, 4096U, 1U << 16U, 1U << 19U}) {
    for (const std::size_t dimension : {1U, 5U, 1000U, 1U << 18U, 1U << 24U}) {
      const ZeroNoise<Norm::l2> mechanism(settings_of(1, batch, dimension));
      const auto d = static_cast<long double>(dimension);
      const auto margin = static_cast<long double>(mechanism.grid().margin);
      EXPECT_LE(0x1p41L * (1 - margin) * errors_of(batch, dimension) + std::sqrt(d) + 1, 0x1p41L);
    }
  }
}

TEST(GaussianGrid, SensitivityOfTheIntegersIsAtMostTwoReaches) {
  for (const auto& [m, d] : {std::pair<std::size_t, std::size_t>{1, 1}, {1, 5}, {7, 5}, {100, 33}, {3, 5000}}) {
    ZeroNoise<Norm::l2> mechanism(settings_of(1, m, d));
    const Wide furthest = furthest_move(mechanism, 11, 100, &squared_distance);
    const Wide most = static_cast<Wide>(1) << 82U;  // (2 N2)²
    EXPECT_TRUE(furthest <= most) << m << " records of " << d;
    EXPECT_TRUE(furthest >= most - (most >> 10U)) << m << " records of " << d;
  }
}

TEST(GaussianGrid, RefusesSumsThatNoClippedBatchCanReach) {
  const auto refusal = [](PrivacyUnit unit, const Vector& sum) {
    ZeroNoise<Norm::l2> mechanism(settings_of(1, 10, 3, unit));
    return message_of<DataError>([&] { released(mechanism, {ReleasePath::by_itself, 3, 17}, 1, sum); });
  };
  EXPECT_EQ(refusal(PrivacyUnit::record, {6, -6, 5.2}), "");  // a norm of 9.96 of 10
  EXPECT_NE(refusal(PrivacyUnit::record, {6, -6, 5.4}), "");  // 10.06
  EXPECT_NE(refusal(PrivacyUnit::record, {0, 0, 1e300}), "");
  EXPECT_EQ(refusal(PrivacyUnit::component, {9.9, -9.9, 9.9}), "");
  EXPECT_NE(refusal(PrivacyUnit::component, {0, 10.1, 0}), "");
}

TEST(Grid, BoundsEachComponentInTheComponentUnit) {
  ZeroNoise<Norm::l1> mechanism(settings_of(0.1, 3, 4, PrivacyUnit::component));
  EXPECT_EQ(mechanism.clip().kind, ClipKind::component);
  AddressedRandom random(10, Purpose::experiment, 0, 0);
  std::int64_t furthest = 0;
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<Record> batch;
    while (batch.size() < 3) batch.push_back(random_record(random, 4));
    const Integers before = integers_of(mechanism, batch);
    Record& changed = batch[random.below(3)];
    double& component = changed.row[random.below(4)];
    component = trial % 2 == 0 ? -component : 1e9 * random.normal();
    furthest = std::max(furthest, distance(before, integers_of(mechanism, batch)));
  }
  EXPECT_LE(furthest, 2 * reach_of(mechanism));
  EXPECT_GE(static_cast<double>(furthest), 1.99 * static_cast<double>(reach_of(mechanism)));
}

/// What the mechanism says to a sum.
std::string refusal_of(ZeroNoise<Norm::l1>& mechanism, const Vector& sum) {
  return message_of<DataError>([&] { released(mechanism, {ReleasePath::by_itself, 3, 17}, price_of(mechanism), sum); });
}

TEST(Grid, RefusesSumsThatNoClippedBatchCanReach) {
  ZeroNoise<Norm::l1> records(settings_of(0.1, 10, 3));
  EXPECT_EQ(refusal_of(records, {3, -3, 3.9}), "");
  EXPECT_THAT(refusal_of(records, {4, -4, 2.1}), HasSubstr("client 3 in round 17"));
  EXPECT_NE(refusal_of(records, {0, 0, 1e300}), "");
  EXPECT_NE(refusal_of(records, {1e308, -1e308, 1e308}), "");
  ZeroNoise<Norm::l1> components(settings_of(0.1, 10, 3, PrivacyUnit::component));
  EXPECT_EQ(refusal_of(components, {9.9, -9.9, 9.9}), "");
  EXPECT_NE(refusal_of(components, {0, 10.1, 0}), "");
  ZeroNoise<Norm::l1> unlimited(settings_of(0x1p22, 1, 2));  // limit 2^61
  EXPECT_EQ(refusal_of(unlimited, {0.5, -0.4999}), "");
  EXPECT_NE(refusal_of(unlimited, {0.5, -1e9}), "");
}

TEST(Grid, RefusesSumsThatAreNotFiniteOrOfTheWrongLength) {
  ZeroNoise<Norm::l1> mechanism(settings_of(0.1, 10, 2));
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(refusal_of(mechanism, {0, value}), HasSubstr("not finite"));
    EXPECT_THAT(refusal_of(mechanism, {-value, 0}), HasSubstr("not finite"));
  }
  EXPECT_THAT(refusal_of(mechanism, {0, 0, 0}), HasSubstr("3 components"));
}

TEST(ZeroNoise, GivesBackTheMeanToHalfAStep) {
  ZeroNoise<Norm::l1> mechanism(settings_of(0.1, 4, 3));
  EXPECT_EQ(mechanism.charge(0.1).epsilon, std::numeric_limits<double>::infinity());
  const Vector mean = released(mechanism, {}, price_of(mechanism), {1, -0.3, 1e-30});
  const double half = mechanism.step(0.1) / 8 * 1.0001;
  EXPECT_NEAR(mean[0], 0.25, half);
  EXPECT_NEAR(mean[1], -0.075, half);
  EXPECT_EQ(mean[2], 0);
}

}  // namespace starling::grid_test
