/// Clients with fixed records of a linear regression around an aggregator, for tests of stochastic gradient descent.
#pragma once

#include "aggregation.hpp"
#include <functional>

#include "starling/loss/loss.hpp"
#include "starling/model/mallows_model.hpp"
#include "starling/privacy/ledger/ledger.hpp"
#include "starling/privacy/mechanism/paired_mechanism.hpp"

namespace starling::testing_support {

/// Client u has lengths[u] batches of m records: p features, some rows long enough for Mallows weights to count, and a
/// label about their sum, now and then far from it.
inline std::vector<Batches> regression(const std::vector<std::size_t>& lengths, std::size_t p, std::size_t m) {
  std::vector<Batches> all;
  for (std::size_t u = 0; u < lengths.size(); ++u) {
    Batches own;
    for (std::size_t t = 0; t < lengths[u]; ++t) {
      AddressedRandom random(5, Purpose::data, u, t);
      Batch batch;
      batch.clear();
      for (std::size_t i = 0; i < m; ++i) {
        Vector x(p);
        double label = 0.5 + (random.uniform() < 0.2 ? 6.0 : 0.7) * random.normal();
        for (double& entry : x) label += entry = random.normal();
        batch.add({x, {}}, label);
      }
      own.push_back(std::move(batch));
    }
    all.push_back(std::move(own));
  }
  return all;
}

/// One rank's part of a run over `records` of all clients, in one pass.
struct RegressionRank {
  RegressionRank(World& world, const std::vector<Batches>& records, Model& model, const Protection& protection,
                 Round rounds, std::size_t batch, const std::string& price = "1")
      : layout(static_cast<Client>(records.size()), world.size()),
        first(layout.first(world.rank())),
        count(static_cast<std::size_t>(layout.count(world.rank()))),
        prices(Prices::parse(price, "price", rounds, static_cast<Client>(records.size()), 0, 1e6)),
        accounts(protection, prices, rounds, first, std::vector<ServedRounds>(count)),
        root(world, layout) {
    std::vector<NoiseKey> keys;
    std::vector<std::unique_ptr<Stream>> streams;
    for (std::size_t k = 0; k < count; ++k) {
      keys.push_back(NoiseKey::from_seed(1, first + static_cast<Client>(k)));
      streams.push_back(std::make_unique<FixedStream>(records[static_cast<std::size_t>(first) + k], 1));
    }
    clients.emplace(model, accounts, std::move(keys), std::move(streams), batch);
  }

  /// Gives client u a budget of affordable(u) releases at mu each, which the ledger keeps.
  void limit(Ledger& ledger, const Protection& protection, double mu,
             const std::function<double(std::size_t u)>& affordable) {
    if (count == 0) return;
    LedgerRun run;
    run.id = "regression";
    run.mechanism = "gaussian";
    run.batch_units = units_of_batch(protection);
    run.determined_by = "00ff";
    std::vector<Budget> budgets;
    for (std::size_t k = 0; k < count; ++k) {
      const auto u = static_cast<std::size_t>(first) + k;
      run.clients.push_back(static_cast<Client>(u));
      budgets.push_back({gaussian_epsilon(mu * std::sqrt(affordable(u) + 0.5), 1e-5), true, 1e-5});
    }
    ledger.begin(run);
    accounts.keep_in(std::vector<Ledger*>(count, &ledger), BlockSizes::doubling());
    accounts.limit(budgets);
  }

  Layout layout;
  Client first;
  std::size_t count;
  Prices prices;
  Accounts accounts;
  Root root;
  std::optional<AggregatedClients> clients;
};

/// What the mechanism releases of a client's batch at theta: the noisy mean of its directions.
inline Vector released(MallowsModel& model, Mechanism& mechanism, const Batch& batch, const ReleaseAddress& address,
                       double price, View theta) {
  Vector sum;
  static_cast<void>(model.evaluate(theta, batch, mechanism.clip(), sum));
  Released<Vector> noisy = declare_public(Vector());
  mechanism.release(address, price, NoiseKey::from_seed(1, address.client), Secret<Vector>(sum), noisy);
  return noisy.value();
}

/// For mechanisms over directions of a model: sums over batches of m, divided by m.
inline ReleaseSettings release_of(const std::string& mechanism, const MallowsModel& model, std::size_t m,
                                  PriceRange price, const std::string& run_id = "regression") {
  ReleaseSettings settings;
  settings.price = price;
  settings.clip =
      mechanism == "none" ? std::numeric_limits<double>::infinity() : model.most_influence() * (1 + 0x1p-16);
  settings.batch = m;
  settings.dimension = model.dimension();
  settings.run_id = run_id;
  return settings;
}

}  // namespace starling::testing_support
