/// A whole network of clients for tests of the protocol: quadratic losses with a minimiser per client, no noise.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <vector>

#include "graph/topology.hpp"
#include "model/model.hpp"
#include "net/agreement.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/mechanism.hpp"
#include "protocol/decentralized/mixing_channel.hpp"
#include "protocol/decentralized/omd.hpp"
#include "support/endless_stream.hpp"
#include "support/mpi_testing.hpp"

namespace starling::testing_support {

/// ½‖x − c‖², c being the features of the batch's only record.
class QuadraticModel final : public Model {
 public:
  explicit QuadraticModel(std::size_t d, std::function<void()> work = {}) : d_(d), work_(std::move(work)) {}
  [[nodiscard]] std::size_t dimension() const override { return d_; }
  [[nodiscard]] bool classifies() const override { return false; }
  Score evaluate(View x, const Batch& batch, const Clip&, Vector& gradient) override {
    const View c = batch.row(0).values;
    if (work_) work_();
    gradient.resize(d_);
    for (std::size_t i = 0; i < d_; ++i) gradient[i] = x[i] - c[i];
    return {0.5 * squared_distance(x, c), 0, 1};
  }
  [[nodiscard]] Score score(View, const Batch&) override { return {}; }

 private:
  static double squared_distance(View x, View c) {
    double total = 0;
    for (std::size_t i = 0; i < x.size(); ++i) total += (x[i] - c[i]) * (x[i] - c[i]);
    return total;
  }
  std::size_t d_;
  std::function<void()> work_;
};

/// The same record in every round.
class ConstantStream final : public EndlessStream {
 public:
  explicit ConstantStream(const Vector& features) {
    batch_.update([&](Batch& batch) { batch.add({features, {}}, 0); });
  }
  [[nodiscard]] const Secret<Batch>& next(Round) override { return batch_; }

 private:
  Secret<Batch> batch_;
};

struct RunSettings : OmdSettings, MixingSettings {
  std::function<void()> work;  ///< done by this rank at each gradient, if there is any
  std::vector<Observer*> observers;
};

struct NetworkResult {
  std::vector<Vector> models;  ///< of all clients, on rank 0
  Vector masses;               ///< likewise
  Vector weights;              ///< effective weights, likewise
  double mass = 0;
  double debt = 0;       ///< Σ of what is still owed
  double in_flight = 0;  ///< Σ of mass in messages that have not arrived
};

/// Runs the protocol on all ranks of the test. `start` and `minimisers` have a vector per client; without minimisers
/// the clients only average. Returns everybody's models on rank 0.
inline NetworkResult run_network(const Schedule& schedule, const RunSettings& settings, const std::string& mirror,
                                 const std::string& domain, const std::vector<Vector>& start,
                                 const std::vector<Vector>& minimisers) {
  const Layout layout(schedule.clients(), world().size());
  const Client first = layout.first(world().rank());
  const auto count = static_cast<std::size_t>(layout.count(world().rank()));
  const std::size_t d = start.front().size();
  const auto the_domain = domain_table().make(domain);
  const auto map = mirror_table().make(mirror, *the_domain);
  const MixingChannel door(world(), layout, schedule, settings, map->state_size(d));

  QuadraticModel model(d, settings.work);
  const ReleaseSettings release{.clip = std::numeric_limits<double>::infinity(), .dimension = d};
  const auto mechanism = mechanism_table().make("none", release);
  Accounts accounts(*mechanism, Prices::parse("1", "price", settings.rounds, schedule.clients(), 0, 1), settings.rounds,
                    first, std::vector<ServedRounds>(count));
  std::optional<Learning> learning;
  if (!minimisers.empty()) {
    learning.emplace(Learning{model, *mechanism, accounts, {}, {}});
    for (std::size_t k = 0; k < count; ++k) {
      const auto u = static_cast<std::size_t>(first) + k;
      learning->keys.push_back(NoiseKey::from_seed(1, static_cast<Client>(u)));
      learning->streams.push_back(std::make_unique<ConstantStream>(minimisers[u]));
    }
  }
  Columns starts(d, count);
  for (std::size_t k = 0; k < count; ++k) {
    std::copy(start[static_cast<std::size_t>(first) + k].begin(), start[static_cast<std::size_t>(first) + k].end(),
              starts[k].begin());
  }
  DecentralizedOmd omd(door.mixer(), *map, std::move(learning), settings,
                       Released<Columns>(declare_public(std::move(starts))));
  if (count > 0) omd.run(settings.observers);

  Agreement agreement(world());
  NetworkResult result;
  const auto flat =
      post_process([](const Columns& x) { return Vector(x.flat().begin(), x.flat().end()); }, omd.models());
  for (const Vector& part : agreement.gather(flat)) {
    for (std::size_t i = 0; i < part.size(); i += d) {
      result.models.emplace_back(part.begin() + static_cast<std::ptrdiff_t>(i),
                                 part.begin() + static_cast<std::ptrdiff_t>(i + d));
    }
  }
  const Vector masses(omd.masses().begin(), omd.masses().end());
  for (const Vector& part : agreement.gather(Released<Vector>(declare_public(masses)))) {
    result.masses.insert(result.masses.end(), part.begin(), part.end());
  }
  for (const double w : result.masses) result.mass += w;
  Vector weights;
  for (std::size_t k = 0; k < count; ++k) weights.push_back(omd.effective_weight(k));
  for (const Vector& part : agreement.gather(Released<Vector>(declare_public(weights)))) {
    result.weights.insert(result.weights.end(), part.begin(), part.end());
  }
  double debt = 0;
  for (const double owed : omd.debts()) debt += owed;
  double in_flight = 0;
  for (std::size_t k = 0; k < count; ++k) in_flight += omd.mass_in_flight(k);
  const Vector figures{debt, in_flight};
  for (const Vector& part : agreement.gather(Released<Vector>(declare_public(figures)))) {
    result.debt += part[0];
    result.in_flight += part[1];
  }
  return result;
}

/// A mirror map on a domain, as a test parameter.
struct Geometry {
  std::string mirror;
  std::string domain;
};
inline void PrintTo(const Geometry& geometry, std::ostream* out) {
  *out << geometry.mirror << " on " << geometry.domain;
}

/// Mean over clients, on rank 0.
inline Vector mean_of(const std::vector<Vector>& models) {
  Vector mean(models.front().size(), 0.0);
  for (const Vector& model : models) {
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += model[i] / static_cast<double>(models.size());
  }
  return mean;
}

}  // namespace starling::testing_support
