// What plug-in intervals are made of: sums over all records and the noise that is claimed of them.
#include "protocol/aggregated/plug_in_sums.hpp"

#include "core/numerics/gram.hpp"
#include "core/numerics/kernels.hpp"
#include "privacy/mechanism/paired_mechanism.hpp"
#include "protocol/regression.hpp"
#include "support/testing.hpp"

namespace starling::plug_in_sums_test {

using namespace testing_support;

constexpr std::size_t p = 3;
constexpr std::size_t d = p + 1;
constexpr std::size_t triangle = triangle_size(d);
constexpr Round steps = 6;
const std::vector<std::size_t> lengths{6, 4, 1, 5, 6};
constexpr double batches = 22;  // their sum

enum class Trusted { local, central };

/// Some path or other; sums are taken at its models.
Vector theta_at(Round t) {
  Vector theta(d);
  for (std::size_t j = 0; j < d; ++j) theta[j] = 0.5 + 0.1 * static_cast<double>(t) - 0.2 * static_cast<double>(j);
  return theta;
}

/// Means of Ψ̇ and ΨΨ' over all records, one triangle after the other.
Vector means_without_noise(MallowsModel& model, const std::vector<Batches>& records, std::size_t m) {
  Vector total(2 * triangle);
  for (const Batches& own : records) {
    for (std::size_t t = 0; t < own.size(); ++t) {
      Vector triangles;
      model.curvature(theta_at(static_cast<Round>(t)), own[t], triangles);
      axpy(1 / (batches * static_cast<double>(m)), triangles, total);
    }
  }
  return total;
}

/// A pair over records of this model, by who is trusted.
PairedMechanism pair_of(const std::string& name, const MallowsModel& model, std::size_t m, PriceRange price,
                        Trusted trusted, const std::string& run_id = "sums") {
  SecondPart part = PlugInSums::part(model, CurvatureParts::both, PlugInSums::share_of_both);
  if (trusted == Trusted::central) part.once_of = lengths.size() * static_cast<std::size_t>(steps) * m;
  return {name, release_of(name, model, m, price, run_id), part};
}

/// Plays all rounds, each client with its own stream, and collects.
PlugInMeans collected(MallowsModel& model, const std::vector<Batches>& records, PairedMechanism& mechanism,
                      Trusted trusted, const std::string& prices) {
  RegressionRank rank(world(), records, model, mechanism, steps, mechanism.settings().batch, prices);
  std::unique_ptr<PlugInSums> sums;
  if (trusted == Trusted::local) {
    sums = std::make_unique<LocalPlugInSums>(rank.root, *rank.clients, model, CurvatureParts::both, mechanism);
  } else {
    const double price = mechanism.settings().price.most;
    sums = std::make_unique<CentralPlugInSums>(rank.root, *rank.clients, model, mechanism, price, steps);
  }
  for (Round t = 0; t < steps; ++t) {
    EXPECT_TRUE(rank.root.begin_round(t));
    for (std::size_t k = 0; k < rank.count; ++k) {
      const std::optional<double> price = rank.clients->begin(k, t);
      if (!price) continue;
      const ReleaseAddress address{ReleasePath::by_itself, rank.first + static_cast<Client>(k), t, 0};
      Released<Vector> direction = declare_public(Vector());
      mechanism.release(address, *price, rank.clients->key(k), rank.clients->gradient(k, theta_at(t), mechanism.clip()),
                        direction);
      sums->add(k, address, *price, theta_at(t), direction);
    }
  }
  return sums->collect();
}

struct Case {
  std::string loss;
  Trusted trusted;
};

class PlugInSumsOf : public testing::TestWithParam<Case> {};

TEST_P(PlugInSumsOf, WithoutNoiseAreTheMeansOverRecords) {
  const Case c = GetParam();
  constexpr std::size_t m = 3;
  const auto loss = make_curved_loss(c.loss);
  MallowsModel model(*loss, p, true, c.loss == "squared" ? RowWeights::none : RowWeights::mallows);
  const auto records = regression(lengths, p, m);
  PairedMechanism mechanism = pair_of("none", model, m, PriceRange::of(1), c.trusted);
  const PlugInMeans means = collected(model, records, mechanism, c.trusted, "1");
  if (world().rank() != 0) {
    EXPECT_TRUE(means.curvature.empty() && means.moment.empty());
    return;
  }
  const Vector expected = means_without_noise(model, records, m);
  EXPECT_EQ(means.curvature.size(), triangle);
  EXPECT_EQ(means.moment.size(), triangle);
  for (std::size_t i = 0; i < std::min(means.curvature.size(), means.moment.size()); ++i) {
    EXPECT_NE(expected[i], 0) << i;
    EXPECT_NEAR(means.curvature[i], expected[i], 1e-13 * (1 + std::abs(expected[i]))) << i;
    EXPECT_NEAR(means.moment[i], expected[triangle + i], 1e-13 * (1 + std::abs(expected[triangle + i]))) << i;
  }
  EXPECT_EQ(means.curvature_noise, 0);
  EXPECT_EQ(means.moment_noise, 0);
  EXPECT_EQ(means.direction_noise, 0);
}

INSTANTIATE_TEST_SUITE_P(Losses, PlugInSumsOf,
                         testing::Values(Case{"huber:1.345", Trusted::local}, Case{"huber:1.345", Trusted::central},
                                         Case{"expectile:0.7,1.345", Trusted::local},
                                         Case{"expectile:0.7,1.345", Trusted::central}, Case{"squared", Trusted::local},
                                         Case{"squared", Trusted::central}),
                         [](const auto& row) {
                           return test_name(row.param.loss) +
                                  (row.param.trusted == Trusted::local ? "_local" : "_central");
                         });

/// Σ of squares of what noise did to entries on the diagonals and beside them, in the deviations claimed.
struct Squares {
  double on = 0;
  double beside = 0;
  void add(View noisy, View exact, double deviation) {
    for (std::size_t i = 0; i < d; ++i) {
      for (std::size_t j = i; j < d; ++j) {
        const std::size_t at = triangle_at(i, j, d);
        const double apart = (noisy[at] - exact[at]) / deviation;
        (i == j ? on : beside) += i == j ? apart * apart : 2 * apart * apart;
      }
    }
  }
};

class PlugInNoise : public testing::TestWithParam<Trusted> {};

// In 150 runs, mean squares of n = 150 · 4 entries on the diagonal and n = 150 · 6 beside it: within four standard
// errors √(2/n) of 1, eight comparisons in all with an error rate of 6e-5 each.
TEST_P(PlugInNoise, IsAsClaimed) {
  constexpr int runs = 150;
  constexpr std::size_t m = 2;
  const Trusted trusted = GetParam();
  const auto loss = make_curved_loss("huber:1.345");
  MallowsModel model(*loss, p, true, RowWeights::mallows);
  const auto records = regression(lengths, p, m);
  const Vector exact = means_without_noise(model, records, m);
  // Where each step's noise is its own, prices may differ.
  const bool local = trusted == Trusted::local;
  const PriceRange prices{local ? 0.5 : 2, 2};
  Squares curvature;
  Squares moment;
  PairedMechanism no_noise = pair_of("none", model, m, PriceRange::of(1), trusted);
  const PlugInMeans plain = collected(model, records, no_noise, trusted, "1");
  Vector between(triangle);  // sums and sums of squares of what noise did
  Vector squares_between(triangle);
  for (int run = 0; run < runs; ++run) {
    PairedMechanism mechanism = pair_of("gaussian", model, m, prices, trusted, "run " + std::to_string(run));
    const PlugInMeans means = collected(model, records, mechanism, trusted, local ? "schedule:from=2,to=0.5" : "2");
    if (world().rank() != 0) continue;
    curvature.add(means.curvature, View(exact).first(triangle), means.curvature_noise);
    moment.add(means.moment, View(exact).subspan(triangle), means.moment_noise);
    for (std::size_t i = 0; i < triangle; ++i) {
      const double apart = means.between[i] - plain.between[i];
      between[i] += apart / runs;
      squares_between[i] += apart * apart / runs;
    }
  }
  if (world().rank() != 0) return;
  // What differs between clients is estimated without bias, whatever the noise: ten means within 4.5 standard errors,
  // error rate 7e-6 each. The bias that is taken off is more than that on the diagonal.
  for (std::size_t i = 0; i < triangle; ++i) {
    EXPECT_NEAR(between[i], 0, 4.5 * std::sqrt(squares_between[i] / runs)) << i;
  }
  for (const Squares& squares : {curvature, moment}) {
    const double on = runs * d;
    const double beside = runs * (triangle - d);
    EXPECT_NEAR(squares.on / on, 1, 4 * std::sqrt(2 / on));
    EXPECT_NEAR(squares.beside / beside, 1, 4 * std::sqrt(2 / beside));
  }
}

INSTANTIATE_TEST_SUITE_P(Trust, PlugInNoise, testing::Values(Trusted::local, Trusted::central),
                         [](const auto& row) { return row.param == Trusted::local ? "Local" : "Central"; });

/// The same features with the labels of two classes.
std::vector<Batches> signs_of(std::vector<Batches> records) {
  for (Batches& own : records) {
    for (Batch& batch : own) {
      Batch signs;
      for (std::size_t i = 0; i < batch.size(); ++i) signs.add(batch.row(i), batch.label(i) > 0 ? 1 : -1);
      batch = std::move(signs);
    }
  }
  return records;
}

// Method 4: at √3 μ in all, the noise on a record's curvature is √2 B1/μ and on its moment √2 B0²/μ; in the mean over n
// records it is √n times less where each has its own, n times less where there is one for all. Bounds have some 2^-12
// to spare.
TEST(PlugInSums, NoiseIsThatOfThePage) {
  const double mu = 0.8;
  const double price = PlugInSums::price_factor * mu;
  for (const char* name : {"huber:1.345", "logistic", "expectile:0.7,1.345"}) {
    const auto loss = make_curved_loss(name);
    MallowsModel model(*loss, p, true, RowWeights::mallows);
    const double b0 = model.most_influence();
    const double b1 = model.most_curvature();
    for (const std::size_t m : {std::size_t{1}, std::size_t{4}}) {
      const auto records =
          name == std::string("logistic") ? signs_of(regression(lengths, p, m)) : regression(lengths, p, m);
      const double of_batch = std::sqrt(2) / (mu * static_cast<double>(m));
      PairedMechanism local = pair_of("gaussian", model, m, PriceRange::of(price), Trusted::local);
      const PlugInMeans own = collected(model, records, local, Trusted::local, fmt::format("{}", price));
      PairedMechanism central = pair_of("gaussian", model, m, PriceRange::of(price), Trusted::central);
      const PlugInMeans of_all = collected(model, records, central, Trusted::central, fmt::format("{}", price));
      if (world().rank() != 0) continue;
      EXPECT_NEAR(own.curvature_noise / (b1 * of_batch / std::sqrt(batches)), 1, 1e-3) << name;
      EXPECT_NEAR(own.moment_noise / (b0 * b0 * of_batch / std::sqrt(batches)), 1, 1e-3) << name;
      EXPECT_NEAR(of_all.curvature_noise / (b1 * of_batch / batches), 1, 1e-3) << name;
      EXPECT_NEAR(of_all.moment_noise / (b0 * b0 * of_batch / batches), 1, 1e-3) << name;
      const double direction = 2 * b0 / (mu * static_cast<double>(m));
      for (const PlugInMeans& means : {own, of_all}) {
        EXPECT_NEAR(means.direction_noise / (direction * direction), 1, 1e-3) << name;
      }
    }
  }
}

// Of curvatures alone, each released by itself: what was released last can be had, with noise as claimed.
TEST(LocalPlugInSums, GiveTheLastCurvatureAlone) {
  const auto loss = make_curved_loss("expectile:0.7,1.345");
  MallowsModel model(*loss, p, true, RowWeights::mallows);
  const auto records = regression({1}, p, 5);
  if (world().rank() != 0) GTEST_SKIP() << "it is rank 0 that has the client";
  for (const std::string name : {"none", "gaussian"}) {
    PairedMechanism mechanism(name, release_of(name, model, 5, PriceRange::of(2)),
                              PlugInSums::part(model, CurvatureParts::curvature, 0.5));
    RegressionRank rank(world(), records, model, mechanism, 1, 5, "2");
    LocalPlugInSums sums(rank.root, *rank.clients, model, CurvatureParts::curvature, mechanism);
    EXPECT_EQ(rank.clients->begin(0, 0), 2);
    sums.add(0, {ReleasePath::by_itself, 0, 0, 0}, 2, theta_at(0), declare_public(Vector(d)));
    Vector last;
    sums.last_curvature(last);
    Vector exact;
    model.curvature(theta_at(0), records[0][0], exact);
    ASSERT_EQ(last.size(), triangle);
    // √2 B1/μ₂ of one record, where μ₂ = √½ · 2; six of them, error rate 2e-8 or less for ten entries.
    const double noise = sums.curvature_noise(2);
    EXPECT_NEAR(noise, name == "none" ? 0 : std::sqrt(2) * model.most_curvature() / (std::sqrt(2) * 5), 1e-3);
    for (std::size_t i = 0; i < triangle; ++i) EXPECT_NEAR(last[i], exact[i] / 5, 6 * noise + 1e-14) << i;
  }
}

// A stream that ends before it begins leaves nothing to divide by.
TEST(PlugInSums, OfNoRecordsAreEmpty) {
  const auto loss = make_curved_loss("huber:1.345");
  MallowsModel model(*loss, p, true, RowWeights::mallows);
  const std::vector<Batches> records(lengths.size());
  for (const Trusted trusted : {Trusted::local, Trusted::central}) {
    PairedMechanism mechanism = pair_of("gaussian", model, 1, PriceRange::of(1), trusted);
    const PlugInMeans means = collected(model, records, mechanism, trusted, "1");
    EXPECT_TRUE(means.curvature.empty());
    EXPECT_TRUE(means.moment.empty());
  }
}

}  // namespace starling::plug_in_sums_test
