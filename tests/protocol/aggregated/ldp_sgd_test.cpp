// Stochastic gradient descent around an aggregator on any number of ranks against recursions that are written down once
// more.
#include "protocol/aggregated/ldp_sgd.hpp"

#include <numbers>

#include "core/numerics/kernels.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/mechanism/paired_mechanism.hpp"
#include "protocol/regression.hpp"
#include "support/testing.hpp"

namespace starling::ldp_sgd_test {

using namespace testing_support;

constexpr std::size_t p = 3;
constexpr std::size_t d = p + 1;
constexpr std::size_t m = 2;
constexpr Round steps = 40;  // the last six have no client

LdpSgdSettings settings_of() {
  LdpSgdSettings settings;
  settings.steps = steps;
  settings.step = 0.8;
  settings.step_power = 0.6;
  settings.step_offset = 3;
  return settings;
}

/// Wants to be called after every seventh round alone.
class Seldom final : public Observer {
 public:
  void after(const RoundView& view) override {
    rounds.push_back(view.done());
    const View theta = view.model(0);
    models.emplace_back(theta.begin(), theta.end());
  }
  [[nodiscard]] Round due() const override { return rounds.back() + 7; }
  std::vector<Round> rounds;
  std::vector<Vector> models;
};

/// θ_0, θ_1, … where client u's direction in step t is added to `total` by `add`, which says whether there is one.
std::vector<Vector> serial_path(const LdpSgdSettings& settings, std::size_t clients,
                                const std::function<bool(std::size_t u, Round t, View theta, Vector& total)>& add) {
  std::vector<Vector> path{four_coefficients().value()};
  for (Round t = 0; t < settings.steps; ++t) {
    Vector theta = path.back();
    Vector total(theta.size());
    double count = 0;
    for (std::size_t u = 0; u < clients; ++u) count += add(u, t, theta, total) ? 1 : 0;
    const double gamma =
        settings.step * std::pow(static_cast<double>(t + 1) + settings.step_offset, -settings.step_power);
    for (std::size_t j = 0; j < theta.size() && count > 0; ++j) theta[j] -= gamma / count * total[j];
    path.push_back(theta);
  }
  return path;
}

double mean_inverse(Round from = 0) {
  double sum = 0;
  double taken = 0;
  for (Round t = from; t < steps; ++t) {
    double clients = 0;
    for (std::size_t u = 0; u < unequal_lengths.size(); ++u) clients += has_batch(u, t) ? 1 : 0;
    if (clients == 0) continue;
    sum += 1 / clients;
    taken += 1;
  }
  return sum / taken;
}

TEST(LdpSgd, IsThePlainRecursionOverThoseWhoTakePart) {
  const auto loss = make_curved_loss("huber:1.345");
  MallowsModel model(*loss, p, true, RowWeights::mallows);
  const auto records = regression(unequal_lengths, p, m);
  const auto plain =
      serial_path(settings_of(), unequal_lengths.size(), [&](std::size_t u, Round t, View theta, Vector& total) {
        if (!has_batch(u, t)) return false;
        add_huber(1.345, records[u][static_cast<std::size_t>(t)], theta, total);
        return true;
      });

  const auto none = mechanism_table().make("none", release_of("none", model, m, PriceRange::of(1)));
  RegressionRank rank(world(), records, model, *none, steps, m);
  LdpSgd sgd(rank.root, *rank.clients, settings_of(), four_coefficients(), *none, nullptr, 1);
  Path path;
  Seldom seldom;
  sgd.run({&seldom, &path});
  EXPECT_EQ(sgd.done(), steps);
  EXPECT_EQ(seldom.rounds, (std::vector<Round>{0, 7, 14, 21, 28, 35}));
  for (std::size_t i = 0; i < seldom.rounds.size(); ++i) EXPECT_EQ(seldom.models[i], path.models[7 * i]) << i;
  expect_near(path.models, plain, 1e-13);
  EXPECT_EQ(path.models.back(), path.models[34]);  // nobody was left: no step
  EXPECT_NE(path.models[34], path.models[33]);
  EXPECT_FALSE(sgd.bias());
  if (rank.root.aggregates()) {
    EXPECT_NEAR(sgd.mean_inverse_clients(), mean_inverse(), 1e-14);
  }
}

// The serial recursion does not know of ranks: that they agree on 1, 2 and 4 ranks says that layouts do not matter.
TEST(LdpSgd, WithNoiseHasTheSameBitsOnAnyLayout) {
  for (const char* name : {"huber:1.345", "expectile:0.7,1.345"}) {
    const auto loss = make_curved_loss(name);
    MallowsModel model(*loss, p, true, RowWeights::mallows);
    const auto records = regression(unequal_lengths, p, m);
    const PriceRange range{0.5, 2};
    const auto made = [&] { return mechanism_table().make("gaussian", release_of("gaussian", model, m, range)); };
    const auto mechanism = made();
    RegressionRank rank(world(), records, model, *mechanism, steps, m, "schedule:from=2,to=0.5");
    LdpSgd sgd(rank.root, *rank.clients, settings_of(), four_coefficients(), *mechanism, nullptr, 2);
    Path path;
    sgd.run({&path});

    const auto again = made();
    const auto plain =
        serial_path(settings_of(), unequal_lengths.size(), [&](std::size_t u, Round t, View theta, Vector& sum) {
          if (!has_batch(u, t)) return false;
          const auto client = static_cast<Client>(u);
          const Batch& batch = records[u][static_cast<std::size_t>(t)];
          axpy(1,
               released(model, *again, batch, {ReleasePath::by_itself, client, t, 0}, rank.prices.at(client, t), theta),
               sum);
          return true;
        });
    EXPECT_EQ(path.models, plain) << name;
  }
}

struct Followed {
  std::string loss;
  std::string mechanism;
};

class LdpSgdBias : public testing::TestWithParam<Followed> {};

// What the aggregator follows is what the clients' released curvatures come to, each made by hand: ΣΨ̇/B1 with
// off-diagonal entries times √2, released, and scaled back.
TEST_P(LdpSgdBias, IsThatOfTheReleasedCurvatures) {
  const Followed c = GetParam();
  const auto loss = make_curved_loss(c.loss);
  MallowsModel model(*loss, p, true, RowWeights::mallows);
  const auto records = regression(unequal_lengths, p, m);
  const double price = 40;  // noise that leaves the mean curvature positive definite after some thirty steps
  const auto made = [&] {
    return PairedMechanism(c.mechanism, release_of(c.mechanism, model, m, PriceRange::of(price)),
                           PlugInSums::part(model, CurvatureParts::curvature, 0.25));
  };
  PairedMechanism mechanism = made();
  LdpSgdSettings settings = settings_of();
  settings.follow_bias = true;
  settings.burn_in = 5;
  RegressionRank rank(world(), records, model, mechanism, steps, m, "40");
  LocalPlugInSums sums(rank.root, *rank.clients, model, CurvatureParts::curvature, mechanism);
  LdpSgd sgd(rank.root, *rank.clients, settings, four_coefficients(), mechanism, &sums, price);
  Path path;
  sgd.run({&path});

  PairedMechanism again = made();
  const double unit = model.most_curvature();
  const double noise = unit * again.second_deviation(price);
  EXPECT_EQ(noise > 0, c.mechanism == "gaussian");
  CurvatureBias bias(d, noise / std::sqrt(static_cast<double>(unequal_lengths.size())));
  Vector of_step(triangle_size(d));
  const auto plain =
      serial_path(settings, unequal_lengths.size(), [&](std::size_t u, Round t, View theta, Vector& sum) {
        if (u == 0) std::fill(of_step.begin(), of_step.end(), 0.0);
        const bool there = has_batch(u, t);
        double clients = 0;
        for (std::size_t v = 0; v < unequal_lengths.size(); ++v) clients += has_batch(v, t) ? 1 : 0;
        if (there) {
          const Batch& batch = records[u][static_cast<std::size_t>(t)];
          const ReleaseAddress address{ReleasePath::by_itself, static_cast<Client>(u), t, 0};
          axpy(1, released(model, again, batch, address, price, theta), sum);
          Vector curvature;
          model.curvature(theta, batch, curvature);
          curvature.resize(triangle_size(d));
          scale(1 / unit, curvature);
          scale_off_diagonal(curvature, d, std::numbers::sqrt2);
          Released<Vector> noisy = declare_public(Vector());
          again.release_second(address, price, NoiseKey::from_seed(1, address.client), Secret<Vector>(curvature),
                               noisy);
          Vector back = noisy.value();
          scale_off_diagonal(back, d, 1 / std::numbers::sqrt2);
          axpy(unit / clients, back, of_step);
        }
        if (u + 1 == unequal_lengths.size() && clients > 0 && t >= settings.burn_in) bias.add(of_step, theta);
        return there;
      });
  EXPECT_EQ(path.models, plain);
  const auto expected = bias.estimate();
  const auto got = sgd.bias();
  EXPECT_EQ(bias.count(), 34 - settings.burn_in);
  EXPECT_TRUE(expected);
  EXPECT_EQ(got.has_value(), rank.root.aggregates());
  if (!expected || !got) return;
  for (std::size_t j = 0; j < d; ++j) {
    EXPECT_NE(got->bias[j], 0) << j;
    EXPECT_NEAR(got->bias[j], expected->bias[j], 1e-12) << j;
    EXPECT_NEAR(
        got->noise[j],
        expected->noise[j] * std::sqrt(mean_inverse(settings.burn_in) * static_cast<double>(unequal_lengths.size())),
        1e-12)
        << j;
  }
}

INSTANTIATE_TEST_SUITE_P(Losses, LdpSgdBias,
                         testing::Values(Followed{"huber:1.345", "none"}, Followed{"expectile:0.7,1.345", "gaussian"}),
                         [](const auto& row) { return test_name(row.param.loss + "_" + row.param.mechanism); });

TEST(LdpSgd, ModelsThatRunAwayAreAnError) {
  const auto loss = make_curved_loss("squared");
  MallowsModel model(*loss, p, true, RowWeights::none);
  const auto records = regression({1000}, p, 1);
  LdpSgdSettings settings;
  settings.steps = 1000;
  settings.step = 1e30;
  const auto none = mechanism_table().make("none", release_of("none", model, 1, PriceRange::of(1)));
  if (world().size() > 1) GTEST_SKIP() << "the others would wait for the rank that failed";
  RegressionRank rank(world(), records, model, *none, 1000, 1);
  LdpSgd sgd(rank.root, *rank.clients, settings, four_coefficients(), *none, nullptr, 1);
  EXPECT_THROW(sgd.run({}), DataError);
}

}  // namespace starling::ldp_sgd_test
