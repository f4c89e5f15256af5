/// Clients with fixed records of a linear regression around an aggregator, for tests of stochastic gradient descent.
#pragma once

#include <functional>

#include "aggregation.hpp"
#include "inference/path_intervals.hpp"
#include "model/mallows_model.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/ledger/ledger.hpp"
#include "protocol/aggregated/aggregated_clients.hpp"
#include "support/near.hpp"

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

using RegressionRank = RankOf<AggregatedClients, Model>;

/// Gives each client u a budget of affordable(u) releases at mu each, which the ledger keeps.
inline void limit(RegressionRank& rank, Ledger& ledger, const Protection& protection, double mu,
                  const std::function<double(std::size_t u)>& affordable) {
  if (rank.count == 0) return;
  LedgerRun run{
      .id = "regression", .mechanism = "gaussian", .batch_units = units_of_batch(protection), .determined_by = "00ff"};
  std::vector<Budget> budgets;
  for (std::size_t k = 0; k < rank.count; ++k) {
    const auto u = static_cast<std::size_t>(rank.first) + k;
    run.clients.push_back(static_cast<Client>(u));
    budgets.push_back({gaussian_epsilon(mu * std::sqrt(affordable(u) + 0.5), 1e-5), true, 1e-5});
  }
  ledger.begin(run);
  rank.accounts.keep_in(std::vector<Ledger*>(rank.count, &ledger), BlockSizes::doubling());
  rank.accounts.limit(budgets);
}

/// Five clients of unequal streams, for both protocols of stochastic gradient descent.
inline const std::vector<std::size_t> unequal_lengths{30, 34, 9, 34, 22};

/// Whether client u has a batch left in step t.
inline bool has_batch(std::size_t u, Round t) {
  return t < static_cast<Round>(unequal_lengths[u]);
}

inline Released<Vector> four_coefficients() {
  return declare_public(Vector{0.5, -1, 2, 0.25});
}

/// Mean of Huber's estimating function Ψ = −min(1, c/|r|) r x ω over a batch, in its plainest form, added to `total`.
inline void add_huber(double c, const Batch& batch, View theta, Vector& total) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    Vector x(batch.row(i).values.begin(), batch.row(i).values.end());
    x.push_back(1);
    double r = batch.label(i);
    double squares = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
      r -= x[j] * theta[j];
      squares += x[j] * x[j];
    }
    const double factor = std::min(1.0, c / std::abs(r)) * r * std::min(1.0, 2 / squares);
    for (std::size_t j = 0; j < x.size(); ++j) total[j] -= factor * x[j] / static_cast<double>(batch.size());
  }
}

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
  const double clip =
      mechanism == "none" ? std::numeric_limits<double>::infinity() : model.most_influence() * (1 + 0x1p-16);
  return {.price = price, .clip = clip, .batch = m, .dimension = model.dimension(), .run_id = run_id};
}

/// Summarises the path for intervals by random scaling.
class PathScaling final : public Observer {
 public:
  explicit PathScaling(std::size_t dimension) : scaling(dimension) {}
  void after(const RoundView& view) override {
    if (view.done() > 0) scaling.add(view.model(0));
  }
  RandomScaling scaling;
};

}  // namespace starling::testing_support
