/// The protocol with constraints against docs/methods/constraints.md written down once more: three clients on a
/// complete graph, whose masses stay one, in one plain loop.
#include "protocol/constraints/long_term_constraints.hpp"

#include <cmath>
#include <type_traits>

#include "graph/topology.hpp"
#include "loss/loss.hpp"
#include "model/linear_model.hpp"
#include "net/agreement.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/mechanism/paired_mechanism.hpp"
#include "privacy/metrics_policy.hpp"
#include "protocol/constraints/composite_model.hpp"
#include "protocol/decentralized/mixing_channel.hpp"
#include "protocol/decentralized/omd.hpp"
#include "support/endless_stream.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::long_term_constraints_test {

using namespace testing_support;

static_assert(std::is_same_v<decltype(std::declval<LongTermConstraints>().duals()), const Released<Columns>&>);
static_assert(
    std::is_same_v<decltype(std::declval<LongTermConstraints>().private_totals()), const std::vector<Secret<Vector>>&>);

constexpr Client clients = 3;
constexpr std::size_t d = 3;
constexpr std::size_t m = 2;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Entry j of record i of a client's round; the label is entry d.
double entry(Client u, Round t, std::size_t i, std::size_t j) {
  const double angle = 1.7 * (u + 1) + 0.9 * static_cast<double>(t) + 2.3 * static_cast<double>(i);
  return j == d ? 1.5 + std::sin(angle)
                : 0.8 - 0.2 * static_cast<double>(j) + 0.2 * std::sin(angle * static_cast<double>(j + 2));
}

class Records final : public testing_support::EndlessStream {
 public:
  explicit Records(Client u) : u_(u) {}
  [[nodiscard]] const Secret<Batch>& next(Round t) override {
    batch_.update([&](Batch& batch) {
      batch.clear();
      for (std::size_t i = 0; i < m; ++i) {
        Vector features(d);
        for (std::size_t j = 0; j < d; ++j) features[j] = entry(u_, t, i, j);
        batch.add({features, {}}, entry(u_, t, i, d));
      }
    });
    return batch_;
  }

 private:
  Client u_;
  Secret<Batch> batch_;
};

struct Setting {
  DualSettings dual;
  PrivateConstraint how = PrivateConstraint::separate;
  std::string mirror = "entropic";
  std::string domain = "simplex";
  Round rounds = 60;
  double step = 0.5;
  double step_power = 0.5;
  const char* data = "data:column=0-1,max=0.5";
};

struct Outcome {
  std::vector<Vector> models;
  std::vector<Vector> duals;   ///< of public constraints, then of those on data
  std::vector<Vector> totals;  ///< likewise
};

ConstraintSet two_constraints(const std::string& on_data) {
  const TemporaryFolder folder;
  return make_constraints("linear:" + folder.write("cap.csv", "1,0,0,0.25\n") + "+" + on_data, {d, d, 1, {}});
}

/// Runs the protocol; the outcome of all clients is on rank 0.
Outcome play(const Setting& setting, const std::string& mechanism = "none", double price = 1) {
  const Layout layout(clients, world().size());
  const Client first = layout.first(world().rank());
  const auto count = static_cast<std::size_t>(layout.count(world().rank()));
  const auto domain = domain_table().make(setting.domain);
  const auto map = mirror_table().make(setting.mirror, *domain);
  const auto topology = topology_table().make("complete", clients, WeightRule::sender);
  const auto loss = loss_table().make("squared");
  LinearModel linear(*loss, d, false);

  const ConstraintSet set = two_constraints(setting.data);
  const ReleaseSettings release{.price = PriceRange::of(price),
                                .clip = mechanism == "none" ? infinity : 1,
                                .batch = m,
                                .dimension = d,
                                .run_id = "constraints"};
  PairedMechanism pair(mechanism, release,
                       {"part", release.clip, LongTermConstraints::second_dimension(set, setting.how), 0.5});
  LongTermConstraints constraints(set, setting.dual, setting.how, count, &pair, m);
  CompositeModel composite(linear, constraints);
  Accounts accounts(pair, Prices::parse(fmt::format("{}", price), "price", setting.rounds, clients, 0, 1),
                    setting.rounds, first, std::vector<ServedRounds>(count));
  Model& model = setting.how == PrivateConstraint::composite ? static_cast<Model&>(composite) : linear;
  Learning learning{model, pair, accounts, {}, {}, &constraints};
  for (Client u = first; u < first + static_cast<Client>(count); ++u) {
    learning.keys.push_back(NoiseKey::from_seed(1, u));
    learning.streams.push_back(std::make_unique<Records>(u));
  }
  OmdSettings settings;
  settings.rounds = setting.rounds;
  settings.step = setting.step;
  settings.step_power = setting.step_power;
  Columns starts(d, count);
  for (std::size_t k = 0; k < count; ++k) domain->centre(starts[k]);
  const MixingChannel door(world(), layout, *topology, MixingSettings(), map->state_size(d));
  DecentralizedOmd omd(door.mixer(), *map, std::move(learning), settings,
                       Released<Columns>(declare_public(std::move(starts))));
  if (count > 0) omd.run({});

  Agreement agreement(world());
  const MetricsPolicy shared(MetricsPolicy::Sharing::shared);
  Vector numbers;
  const Released<Columns> models = omd.models();
  for (std::size_t k = 0; k < count; ++k) {
    const auto add = [&](View values) { numbers.insert(numbers.end(), values.begin(), values.end()); };
    add(models.value()[k]);
    add(constraints.duals().value()[k]);
    add(constraints.public_totals().value()[k]);
    add(shared.share(constraints.private_totals()[k], SharedFigure::violations)->value());
  }
  Outcome outcome;
  for (const Vector& part : agreement.gather(Released<Vector>(declare_public(numbers)))) {
    for (auto at = part.begin(); at != part.end(); at += d + 4) {
      outcome.models.emplace_back(at, at + d);
      outcome.duals.emplace_back(at + d, at + d + 2);
      outcome.totals.emplace_back(at + d + 2, at + d + 4);
    }
  }
  return outcome;
}

/// Projection onto the box, or the entropic step on the simplex.
void step(const Setting& setting, Vector& x, double eta, const Vector& g) {
  double total = 0;
  for (std::size_t i = 0; i < d; ++i) {
    x[i] = setting.mirror == "entropic" ? x[i] * std::exp(-eta * g[i]) : std::clamp(x[i] - eta * g[i], -0.5, 0.5);
    total += x[i];
  }
  for (std::size_t i = 0; i < d && setting.mirror == "entropic"; ++i) x[i] /= total;
}

/// The method without noise in a plain loop.
Outcome simulate(const Setting& setting) {
  Outcome now;
  now.models.assign(clients, Vector(d, setting.mirror == "entropic" ? 1.0 / d : 0.0));
  now.duals.assign(clients, Vector(2, 0.0));
  now.totals.assign(clients, Vector(2, 0.0));
  const bool queue = setting.dual.method == DualMethod::queue;
  for (Round t = 0; t < setting.rounds; ++t) {
    const double eta = setting.step / std::pow(static_cast<double>(t + 1), setting.step_power);
    Vector mean(d, 0.0);
    for (Client u = 0; u < clients; ++u) {
      Vector& x = now.models[static_cast<std::size_t>(u)];
      Vector& dual = now.duals[static_cast<std::size_t>(u)];
      Vector gradient(d, 0.0);
      Vector a(d, 0.0);
      for (std::size_t i = 0; i < m; ++i) {
        double residual = -entry(u, t, i, d);
        for (std::size_t j = 0; j < d; ++j) residual += x[j] * entry(u, t, i, j);
        for (std::size_t j = 0; j < d; ++j) gradient[j] += residual * entry(u, t, i, j) / m;
        for (std::size_t j = 0; j < 2; ++j) a[j] += entry(u, t, i, j) / m;
      }
      const double c[2] = {x[0] - 0.25, a[0] * x[0] + a[1] * x[1] - 0.5};
      if (queue && t > 0) dual[0] = std::max(0.0, dual[0] + c[0]);  // at the new point, before the step
      for (std::size_t j = 0; j < d; ++j) {
        gradient[j] = (queue ? setting.dual.caution : 1) * gradient[j] + (j == 0 ? dual[0] : 0) + dual[1] * a[j];
      }
      for (int i = 0; i < 2; ++i) {
        const auto at = static_cast<std::size_t>(i);
        now.totals[static_cast<std::size_t>(u)][at] += c[i];
        if (queue) {
          if (i == 1) dual[1] = std::max(0.0, dual[1] + c[1]);
        } else {
          dual[at] += setting.dual.step * eta * (c[i] - setting.dual.regularisation * eta * dual[at]);
          dual[at] = std::min(std::max(dual[at], 0.0), setting.dual.most);
        }
      }
      step(setting, x, eta, gradient);
      for (std::size_t j = 0; j < d; ++j) mean[j] += x[j] / clients;
    }
    for (Vector& x : now.models) x = mean;
  }
  return now;
}

void expect_equal(const std::vector<Vector>& seen, const std::vector<Vector>& expected) {
  ASSERT_EQ(seen.size(), expected.size());
  for (std::size_t u = 0; u < seen.size(); ++u) {
    for (std::size_t i = 0; i < expected[u].size(); ++i) {
      EXPECT_NEAR(seen[u][i], expected[u][i], 1e-10 * (1 + std::abs(expected[u][i]))) << "client " << u << ", " << i;
    }
  }
}

void expect_simulated(const Setting& setting) {
  const Outcome seen = play(setting);
  if (world().rank() != 0) return;
  const Outcome expected = simulate(setting);
  expect_equal(seen.models, expected.models);
  expect_equal(seen.duals, expected.duals);
  expect_equal(seen.totals, expected.totals);
  // A comparison of duals that never left 0 would say nothing.
  EXPECT_GT(expected.duals[0][0] + expected.duals[0][1], 0);
}

Setting euclidean(Setting setting) {
  setting.mirror = "euclidean";
  setting.domain = "box:-0.5,0.5";
  return setting;
}

Setting saddle() {
  Setting setting;
  setting.dual.regularisation = 0.5;
  setting.dual.step = 2;
  return setting;
}

Setting queue() {
  Setting setting;
  setting.dual.method = DualMethod::queue;
  setting.dual.caution = 3;
  setting.step = 1.0 / (2 * 20);  // 1/(2α)
  setting.step_power = 0;
  return setting;
}

TEST(Constraints, SaddlePointFollowsTheMethod) {
  expect_simulated(saddle());
  expect_simulated(euclidean(saddle()));
  Setting bounded = saddle();
  bounded.dual.most = 0.125;
  expect_simulated(bounded);
}

TEST(Constraints, VirtualQueueFollowsTheMethod) {
  expect_simulated(euclidean(queue()));
  expect_simulated(queue());
}

// Without clipping and noise both variants release the same two quantities.
TEST(Constraints, CompositeVariantIsTheSameWithoutNoise) {
  for (Setting setting : {saddle(), euclidean(queue())}) {
    setting.how = PrivateConstraint::composite;
    expect_simulated(setting);
  }
}

// Duals of constraints on data follow what was released: with noise they differ from those of the values themselves,
// and the values that are reported stay those on records.
TEST(Constraints, NoiseReachesTheDuals) {
  for (const PrivateConstraint how : {PrivateConstraint::separate, PrivateConstraint::composite}) {
    Setting setting = saddle();
    setting.how = how;
    setting.rounds = 1;
    setting.data = "data:column=0-1,max=-100";  // far from met: no dual is cut off at 0
    const Outcome noisy = play(setting, "laplace", 1);
    const Outcome plain = play(setting);
    if (world().rank() != 0) continue;
    for (std::size_t u = 0; u < clients; ++u) {
      EXPECT_NE(noisy.duals[u][1], plain.duals[u][1]);
      EXPECT_EQ(noisy.duals[u][0], plain.duals[u][0]);  // public: of a released model
      EXPECT_EQ(noisy.totals[u], plain.totals[u]);
    }
  }
}

}  // namespace starling::long_term_constraints_test
