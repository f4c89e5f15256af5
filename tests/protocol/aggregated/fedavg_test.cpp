// Federated averaging on any number of ranks against loops over all clients that are written down once more.
#include "protocol/aggregated/fedavg.hpp"

#include "core/numerics/kernels.hpp"
#include "net/root/root.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/ledger/ledger.hpp"
#include "privacy/mechanism.hpp"
#include "protocol/aggregated/aggregated_clients.hpp"
#include "protocol/aggregated/ldp_sgd.hpp"
#include "protocol/regression.hpp"
#include "support/testing.hpp"

namespace starling::fedavg_test {

using namespace testing_support;

constexpr std::size_t p = 3;
constexpr std::size_t m = 2;
/// Of unequal_lengths: with three local steps a round the first stream ends with a round, the second and the last
/// within a round, and of fifteen rounds the last three have no client.
const std::vector<double> by_records{60, 68, 18, 68, 44};
constexpr Round rounds = 15;

FedAvgSettings settings_of(Round local_steps) {
  FedAvgSettings settings;
  settings.rounds = rounds;
  settings.local_steps = local_steps;
  settings.step = 0.4;
  settings.step_power = 0.6;
  settings.step_offset = 3;
  return settings;
}

double length(const StepSchedule& settings, Round t) {
  return settings.step * std::pow(static_cast<double>(t + 1) + settings.step_offset, -settings.step_power);
}

/// θ_0, θ_1, … where `step` makes local step s of client u on w and says whether it did.
std::vector<Vector> serial_path(const FedAvgSettings& settings, const std::vector<double>& weights,
                                const std::function<bool(std::size_t u, Round s, double eta, Vector& w)>& step) {
  std::vector<Vector> path{four_coefficients().value()};
  for (Round t = 0; t < settings.rounds; ++t) {
    Vector total(path.back().size());
    double weight = 0;
    for (std::size_t u = 0; u < weights.size(); ++u) {
      Vector w = path.back();
      Round e = 0;
      while (e < settings.local_steps) {
        const Round s = t * settings.local_steps + e;
        const double eta = settings.zero_at > 0 ? settings.step_at(s) : length(settings, t);
        if (!step(u, s, eta, w)) break;
        ++e;
      }
      if (e == 0) continue;
      for (std::size_t j = 0; j < w.size(); ++j) total[j] += weights[u] * w[j];
      weight += weights[u];
    }
    for (double& entry : total) entry /= weight;
    path.push_back(weight > 0 ? total : path.back());
  }
  return path;
}

/// The local clients' entries.
Vector local(const RegressionRank& rank, const std::vector<double>& weights) {
  const auto begin = weights.begin() + static_cast<std::ptrdiff_t>(rank.first);
  return rank.count == 0 ? Vector() : Vector(begin, begin + static_cast<std::ptrdiff_t>(rank.count));
}

// One local step of all clients, counted alike and without noise: the mean of their models is the model less the mean
// of their gradients. Only roundings differ: here models are added, there gradients.
TEST(FedAvg, WithOneStepOfAllIsGradientDescentOnTheUnion) {
  const auto loss = make_curved_loss("squared");
  MallowsModel model(*loss, p, true, RowWeights::none);
  const auto records = regression({rounds, rounds, rounds, rounds, rounds}, p, m);
  const auto none = mechanism_table().make("none", release_of("none", model, m, PriceRange::of(1)));
  const FedAvgSettings settings = settings_of(1);

  RegressionRank rank(world(), records, model, *none, rounds, m);
  FedAvg fedavg(rank.root, *rank.clients, settings, four_coefficients(), *none, Vector(rank.count, 1.0));
  Path path;
  fedavg.run({&path});
  EXPECT_EQ(fedavg.done(), rounds);

  LdpSgdSettings same;
  same.steps = rounds;
  static_cast<StepSchedule&>(same) = settings;
  RegressionRank again(world(), records, model, *none, rounds, m);
  LdpSgd sgd(again.root, *again.clients, same, four_coefficients(), *none, nullptr, 1);
  Path of_sgd;
  sgd.run({&of_sgd});
  expect_near(path.models, of_sgd.models, 1e-12);

  std::vector<Vector> descent{four_coefficients().value()};
  for (Round t = 0; t < rounds; ++t) {
    Vector theta = descent.back();
    Vector gradient(p + 1);
    for (const Batches& own : records) {
      const Batch& batch = own[static_cast<std::size_t>(t)];
      for (std::size_t i = 0; i < m; ++i) {
        Vector x(batch.row(i).values.begin(), batch.row(i).values.end());
        x.push_back(1);
        axpy((dot(x, theta) - batch.label(i)) / static_cast<double>(m * records.size()), x, gradient);
      }
    }
    axpy(-length(settings, t), gradient, theta);
    descent.push_back(theta);
  }
  expect_near(path.models, descent, 1e-12);
}

// With error feedback a sum of rounded updates differs from that of the exact ones by one rounding, however many there
// were: paths stay together, where roundings that are forgotten would add up.
TEST(FedAvg, InFewBitsStaysBesideTheExactPath) {
  const auto loss = make_curved_loss("squared");
  MallowsModel model(*loss, p, true, RowWeights::none);
  const auto records = regression({rounds, rounds, rounds, rounds, rounds}, p, m);
  const auto none = mechanism_table().make("none", release_of("none", model, m, PriceRange::of(1)));
  const auto play = [&](const std::string& precision) {
    FedAvgSettings settings = settings_of(1);
    settings.precision = precision;
    RegressionRank rank(world(), records, model, *none, rounds, m);
    FedAvg fedavg(rank.root, *rank.clients, settings, four_coefficients(), *none, Vector(rank.count, 1.0));
    Path path;
    fedavg.run({&path});
    return path.models;
  };
  const auto exact = play("double");
  expect_near(play("float32"), exact, 1e-6);
  expect_near(play("bits:8"), exact, 0.02);
  expect_near(play("bits:5"), exact, 0.15);
}

// Two clients, one local step each from θ = 0 under the squared loss: w_k = η y_k x_k, by hand.
TEST(FedAvg, WeighsModels) {
  const auto loss = make_curved_loss("squared");
  MallowsModel model(*loss, 1, false, RowWeights::none);
  std::vector<Batches> records(2, Batches(1));
  records[0][0].add({Vector{2}, {}}, 3);
  records[1][0].add({Vector{1}, {}}, -4);
  const auto none = mechanism_table().make("none", release_of("none", model, 1, PriceRange::of(1)));
  RegressionRank rank(world(), records, model, *none, 1, 1);
  FedAvgSettings settings;
  settings.step = 0.5;
  FedAvg fedavg(rank.root, *rank.clients, settings, declare_public(Vector{0}), *none, local(rank, {3, 1}));
  fedavg.run({});
  // η = 0.5 gives w = 3 and w = −2.
  EXPECT_DOUBLE_EQ(fedavg.theta().value()[0], (3 * 3.0 + 1 * -2.0) / 4);
}

/// Robust regression over clients whose streams end in different rounds.
class FedAvgOfHuber : public testing::Test {
 protected:
  /// A client's local step along the mean direction that `mechanism` releases.
  auto released_step(Mechanism& mechanism, const Prices& prices) {
    return [this, &mechanism, &prices](std::size_t u, Round s, double eta, Vector& w) {
      if (!has_batch(u, s)) return false;
      const auto client = static_cast<Client>(u);
      const Batch& batch = records_[u][static_cast<std::size_t>(s)];
      const ReleaseAddress address{ReleasePath::by_itself, client, s, 0};
      axpy(-eta, released(model_, mechanism, batch, address, prices.at(client, s), w), w);
      return true;
    };
  }

  std::unique_ptr<CurvedLoss> loss_ = make_curved_loss("huber:1.345");
  MallowsModel model_{*loss_, p, true, RowWeights::mallows};
  std::vector<Batches> records_ = regression(unequal_lengths, p, m);
};

// The penalty as it stands in the header.
TEST_F(FedAvgOfHuber, MakesLocalStepsUntilStreamsEnd) {
  FedAvgSettings settings = settings_of(3);
  settings.l2.lambda = 0.05;
  const auto plain = serial_path(settings, by_records, [&](std::size_t u, Round s, double eta, Vector& w) {
    if (!has_batch(u, s)) return false;
    const Batch& batch = records_[u][static_cast<std::size_t>(s)];
    Vector step(w.size());
    for (std::size_t j = 0; j < w.size(); ++j) step[j] = settings.l2.lambda * w[j];
    add_huber(1.345, batch, w, step);
    axpy(-eta, step, w);
    return true;
  });

  const auto none = mechanism_table().make("none", release_of("none", model_, m, PriceRange::of(1)));
  RegressionRank rank(world(), records_, model_, *none, rounds * 3, m);
  FedAvg fedavg(rank.root, *rank.clients, settings, four_coefficients(), *none, local(rank, by_records));
  Path path;
  fedavg.run({&path});
  expect_near(path.models, plain, 1e-12);
  EXPECT_EQ(path.models.back(), path.models[12]);  // nobody was left: no step
  EXPECT_NE(path.models[12], path.models[11]);
  for (std::size_t k = 0; k < rank.count; ++k) {
    const auto steps = static_cast<Round>(unequal_lengths[static_cast<std::size_t>(rank.first) + k]);
    EXPECT_EQ(fedavg.played().rounds[k], RoundSet::first(steps));
    EXPECT_EQ(rank.accounts.spending(k).releases(), steps);
  }
}

// FedProx and SCAFFOLD as they stand in the header, over clients that end in different rounds.
TEST_F(FedAvgOfHuber, CorrectsLocalStepsAsALoopDoes) {
  constexpr std::size_t steps = 3;
  for (const bool controls : {false, true}) {
    FedAvgSettings settings = settings_of(steps);
    settings.l2.lambda = 0.05;
    settings.proximal = 0.3;
    settings.controls = controls;
    std::vector<Vector> path{four_coefficients().value()};
    const std::size_t d = path[0].size();
    Vector common(d);
    std::vector<Vector> own(records_.size(), Vector(d));
    for (Round t = 0; t < settings.rounds; ++t) {
      Vector models(d);
      Vector directions(d);
      double weight = 0;
      const std::vector<Vector> before = own;
      for (std::size_t u = 0; u < records_.size(); ++u) {
        Vector w = path.back();
        Vector sum(d);
        std::size_t e = 0;
        for (; e < steps && has_batch(u, t * static_cast<Round>(steps) + static_cast<Round>(e)); ++e) {
          Vector direction(d);
          axpy(settings.l2.lambda, w, direction);
          add_huber(1.345, records_[u][static_cast<std::size_t>(t) * steps + e], w, direction);
          axpy(1, direction, sum);
          axpy(settings.proximal, w, direction);
          axpy(-settings.proximal, path.back(), direction);
          if (controls) axpy(1, common, direction);
          if (controls) axpy(-1, before[u], direction);
          axpy(-length(settings, t), direction, w);
        }
        if (e == 0) continue;
        own[u] = sum;
        scale(1 / static_cast<double>(e), own[u]);
        axpy(by_records[u], w, models);
        axpy(by_records[u], own[u], directions);
        weight += by_records[u];
      }
      if (weight > 0) {
        scale(1 / weight, models);
        scale(1 / weight, directions);
        common = directions;
      }
      path.push_back(weight > 0 ? models : path.back());
    }
    const auto none = mechanism_table().make("none", release_of("none", model_, m, PriceRange::of(1)));
    RegressionRank rank(world(), records_, model_, *none, rounds * 3, m);
    FedAvg fedavg(rank.root, *rank.clients, settings, four_coefficients(), *none, local(rank, by_records));
    Path played;
    fedavg.run({&played});
    expect_near(played.models, path, 1e-12);
  }
}

// Two clients with optima 3 and −4, and curvatures 4 and 1: the sum of their losses has its optimum at (12 − 4)/5.
TEST(FedAvg, ControlsReachTheOptimumFromWhichLocalStepsDrift) {
  constexpr Round many = 300;
  constexpr Round steps = 10;
  const auto loss = make_curved_loss("squared");
  MallowsModel model(*loss, 1, false, RowWeights::none);
  std::vector<Batches> records(2, Batches(static_cast<std::size_t>(many * steps)));
  for (Batch& batch : records[0]) batch.add({Vector{2}, {}}, 6);
  for (Batch& batch : records[1]) batch.add({Vector{1}, {}}, -4);
  const auto none = mechanism_table().make("none", release_of("none", model, 1, PriceRange::of(1)));
  const auto distance = [&](double proximal, bool controls, const std::string& precision) {
    FedAvgSettings settings;
    settings.rounds = many;
    settings.local_steps = steps;
    settings.step = 0.05;
    settings.step_power = 0;
    settings.proximal = proximal;
    settings.controls = controls;
    settings.precision = precision;
    RegressionRank rank(world(), records, model, *none, many * steps, 1);
    FedAvg fedavg(rank.root, *rank.clients, settings, declare_public(Vector{0}), *none, Vector(rank.count, 1.0));
    fedavg.run({});
    return std::abs(fedavg.theta().value()[0] - 1.6);
  };
  const double plain = distance(0, false, "double");
  EXPECT_GT(plain, 0.3);
  EXPECT_LT(distance(4, false, "double"), 0.75 * plain);
  EXPECT_LT(distance(0, true, "double"), 1e-6);
  EXPECT_LT(distance(0, true, "float16"), 1e-3);  // the common direction travels in few bits too
}

// The loop over all clients does not know of ranks: that they agree on 1, 2, 4 and 7 says that layouts do not matter.
TEST_F(FedAvgOfHuber, WithNoiseHasTheSameBitsOnAnyLayout) {
  for (const char* name : {"gaussian", "laplace"}) {
    const PriceRange range{0.5, 2};
    const auto made = [&] { return mechanism_table().make(name, release_of(name, model_, m, range)); };
    const auto mechanism = made();
    RegressionRank rank(world(), records_, model_, *mechanism, rounds * 3, m, "schedule:from=2,to=0.5");
    FedAvg fedavg(rank.root, *rank.clients, settings_of(3), four_coefficients(), *mechanism, local(rank, by_records));
    Path path;
    fedavg.run({&path});

    const auto again = made();
    const auto plain = serial_path(settings_of(3), by_records, released_step(*again, rank.prices));
    EXPECT_EQ(path.models, plain) << name;
  }
}

// Noise is taken back by a client's own later local steps, within a round and in later ones, and steps fall with each.
TEST_F(FedAvgOfHuber, WithCorrelatedNoiseHasTheSameBitsOnAnyLayout) {
  FedAvgSettings settings = settings_of(3);
  settings.zero_at = rounds * 3;
  const auto made = [&] {
    ReleaseSettings terms = release_of("gaussian", model_, m, PriceRange::of(1));
    terms.correlation = best_correlation(settings.zero_at, 1);
    return mechanism_table().make("gaussian", terms);
  };
  const auto mechanism = made();
  RegressionRank rank(world(), records_, model_, *mechanism, rounds * 3, m);
  FedAvg fedavg(rank.root, *rank.clients, settings, four_coefficients(), *mechanism, local(rank, by_records));
  Path path;
  fedavg.run({&path});

  const auto again = made();
  const auto plain = serial_path(settings, by_records, released_step(*again, rank.prices));
  EXPECT_EQ(path.models, plain);
}

// A mechanism that has released before the gap does as a fresh one: no noise from before it is taken back.
TEST_F(FedAvgOfHuber, BeginsNewChainsAfterRoundsThatAreLeftOut) {
  FedAvgSettings settings = settings_of(3);
  ReleaseSettings terms = release_of("gaussian", model_, m, PriceRange::of(1));
  terms.correlation = best_correlation(rounds * 3, 1);
  const auto model_after_gap = [&](Round before) {
    const auto mechanism = mechanism_table().make("gaussian", terms);
    settings.rounds = before;
    RegressionRank first(world(), records_, model_, *mechanism, rounds * 3, m);
    FedAvg(first.root, *first.clients, settings, four_coefficients(), *mechanism, local(first, by_records)).run({});
    settings.rounds = rounds;
    RegressionRank second(world(), records_, model_, *mechanism, rounds * 3, m);
    FedAvg fedavg(second.root, *second.clients, settings, four_coefficients(), *mechanism, local(second, by_records));
    fedavg.leave_out(4);
    fedavg.run({});
    return fedavg.theta().value();
  };
  EXPECT_EQ(model_after_gap(2), model_after_gap(0));
}

// Client 1 can pay for 7 local steps, two rounds and one step, and client 4 for none, while their streams go on.
TEST_F(FedAvgOfHuber, GoesOnWithoutClientsWhomTheirBudgetStops) {
  records_ = regression(unequal_lengths, p, 1);
  const double mu = 0.5;
  const auto made = [&] {
    return mechanism_table().make("gaussian", release_of("gaussian", model_, 1, PriceRange::of(mu)));
  };
  const auto mechanism = made();
  RegressionRank rank(world(), records_, model_, *mechanism, rounds * 3, 1, "0.5");
  const auto affordable = [](std::size_t u) { return u == 1 ? 7.0 : u == 4 ? 0.0 : 1000.0; };

  const TemporaryFolder folder;
  Ledger ledger = Ledger::open(folder / "ledger");
  limit(rank, ledger, *mechanism, mu, affordable);
  FedAvg fedavg(rank.root, *rank.clients, settings_of(3), four_coefficients(), *mechanism, local(rank, by_records));
  Path path;
  fedavg.run({&path});

  const auto again = made();
  const auto step = released_step(*again, rank.prices);
  const auto plain = serial_path(settings_of(3), by_records, [&](std::size_t u, Round s, double eta, Vector& w) {
    return static_cast<double>(s) < affordable(u) && step(u, s, eta, w);
  });
  EXPECT_EQ(path.models, plain);
  for (std::size_t k = 0; k < rank.count; ++k) {
    const auto u = static_cast<std::size_t>(rank.first) + k;
    EXPECT_EQ(static_cast<double>(rank.accounts.spending(k).releases()),
              std::min(affordable(u), static_cast<double>(unequal_lengths[u])))
        << u;
  }
}

// Seven batches of two records, in two passes, by three local steps a round: a record enters one release in each pass,
// although rounds do not end where passes do, and its client makes fourteen.
TEST_F(FedAvgOfHuber, ChargesEachRecordOncePerPass) {
  const double mu = 0.7;
  const double delta = 1e-5;
  const auto mechanism = mechanism_table().make("gaussian", release_of("gaussian", model_, m, PriceRange::of(mu)));
  const Layout layout(1, world().size());
  const auto count = static_cast<std::size_t>(layout.count(world().rank()));
  const ServedRounds served{.records = 14, .of_pass = 7, .of_all = 14};
  Accounts accounts(*mechanism, Prices::parse("0.7", "price", 15, 1, 0, 1e6), 15, layout.first(world().rank()),
                    std::vector<ServedRounds>(count, served));
  std::vector<NoiseKey> keys;
  std::vector<std::unique_ptr<Stream>> own;
  if (count > 0) {
    keys.push_back(NoiseKey::from_seed(1, 0));
    own.push_back(std::make_unique<FixedStream>(regression({7}, p, m)[0], 2));
  }
  AggregatedClients clients(model_, accounts, std::move(keys), std::move(own), m);
  Root root(world(), layout);
  FedAvgSettings settings = settings_of(3);
  settings.rounds = 5;
  FedAvg fedavg(root, clients, settings, four_coefficients(), *mechanism, Vector(count, 14.0));
  fedavg.run({});

  EXPECT_EQ(fedavg.done(), 5);
  if (count == 0) return;
  const ClientLosses losses = accounts.losses(0, delta);
  EXPECT_EQ(losses.releases, 14);
  EXPECT_EQ(losses.participations, 2);
  EXPECT_NEAR(losses.record.epsilon, gaussian_epsilon(mu * std::sqrt(2), delta), 1e-6);
  EXPECT_NEAR(losses.client.epsilon, gaussian_epsilon(mu * m * std::sqrt(14), delta), 1e-6);
}

TEST(FedAvg, ModelsThatRunAwayAreAnError) {
  if (world().size() > 1) GTEST_SKIP() << "the others would wait for the rank that failed";
  const auto loss = make_curved_loss("squared");
  MallowsModel model(*loss, p, true, RowWeights::none);
  const auto records = regression({1000}, p, 1);
  FedAvgSettings settings;
  settings.rounds = 1000;
  settings.step = 1e30;
  const auto none = mechanism_table().make("none", release_of("none", model, 1, PriceRange::of(1)));
  RegressionRank rank(world(), records, model, *none, 1000, 1);
  FedAvg fedavg(rank.root, *rank.clients, settings, four_coefficients(), *none, Vector(1, 1.0));
  EXPECT_THROW(fedavg.run({}), DataError);
}

}  // namespace starling::fedavg_test
