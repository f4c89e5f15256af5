/// The protocol of `starling infer` with its communication: rank 0 aggregates, or clients mix with their neighbours.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/boundary.hpp"
#include "core/columns.hpp"
#include "core/links.hpp"
#include "core/snapshot.hpp"
#include "data/stream.hpp"
#include "inference/curvature_bias.hpp"
#include "net/traffic.hpp"
#include "output/figures/effective_weights.hpp"
#include "privacy/keys/keys.hpp"
#include "protocol/time_shares.hpp"

namespace starling {

class Accounts;
class Agreement;
class MallowsModel;
class Mechanism;
class Model;
class NewtonRounds;
class Observer;
class PlugInSums;
class RoundView;
class Schedule;
class World;
struct InferConfig;
struct NewtonSettings;
struct OmdSettings;

/// Parts of an engine. References must outlive the engine.
struct EngineParts {
  World& world;
  const Layout& layout;
  const InferConfig& config;
  const Schedule* schedule;  ///< of a run with --topology; else null
  MallowsModel& model;
  Model* learned;  ///< whose directions are released: `model`, that of its persons, or one in other coordinates
  Mechanism* mechanism;
  Accounts& accounts;
  const std::vector<NoiseKey>& keys;
  std::vector<std::unique_ptr<Stream>> streams;
  const Released<Vector>* start;
  double price;                            ///< of a round, where all have the same
  Vector factors = {};                     ///< of each local client's noisy means; empty: 1 for all
  Round first_round = 0;                   ///< rounds before are no steps
  std::vector<std::size_t> left_out = {};  ///< features without a coefficient, of Newton's rounds
};

/// Traffic and steps of a rank's clients.
struct EngineFigures {
  Vector debts;                     ///< step debt of each client, in steps of the first round
  std::optional<LocalSteps> steps;  ///< of this rank's clients; none where rank 0 takes the steps
  std::vector<EdgeTraffic> edges;
  WireTraffic wire;
};

class InferEngine {
 public:
  virtual ~InferEngine() = default;
  /// Before the first step, over a graph: the messages of these clients are counted by edge, those of all others
  /// together. With an aggregator each client's are counted in any case.
  virtual void count_edges_of(const std::vector<Client>& /*senders*/) {}
  /// **Collective.** Plays all steps, or fewer if a signal stops the run.
  virtual void run(const std::vector<Observer*>& observers) = 0;
  [[nodiscard]] virtual const RoundView& view() const = 0;
  [[nodiscard]] virtual TimeShares time_shares() const = 0;
  /// Clients of this rank whose paths lead to estimates: all, or one on rank 0 if that aggregates.
  [[nodiscard]] virtual std::size_t paths() const = 0;
  /// The figures of this rank's clients, the first of which is `first`.
  [[nodiscard]] virtual EngineFigures figures(Client first) const = 0;
  /// The rounds of `--estimator newton`; null where the estimate is the average of a path.
  [[nodiscard]] virtual const NewtonRounds* newton() const { return nullptr; }
  /// The sums behind plug-in intervals; null where none were asked for.
  [[nodiscard]] virtual PlugInSums* plug_in() { return nullptr; }
  /// Mean over steps of 1/(clients that took part), on rank 0 of an aggregated run.
  [[nodiscard]] virtual double mean_inverse_clients() const { return 1; }
  /// Curvature bias of the average, on rank 0 of an aggregated run that releases curvatures step by step.
  [[nodiscard]] virtual std::optional<BiasEstimate> bias() const { return std::nullopt; }
  /// All that steps depend on but streams, keys, the graph and accounts.
  virtual void persist(Snapshot& snapshot) = 0;
  /// Steps before `end` that have not been taken will not be.
  virtual void leave_out(Round end) = 0;
  /// A note for users on the exchange of vectors; empty if there is none.
  [[nodiscard]] const std::string& note() const { return note_; }

 protected:
  std::string note_;
};

/// Steps that were taken: the same on all ranks but those that host no client of a graph. **Collective.**
[[nodiscard]] Round rounds_done(Agreement& agreement, const InferEngine& engine);

/// Steps of a run over a graph.
[[nodiscard]] OmdSettings omd_settings(const InferConfig& config);

/// Rounds of `--estimator newton`, which are as many as the run's steps. Under noise the second half closes.
[[nodiscard]] NewtonSettings newton_settings(const InferConfig& config, std::vector<std::size_t> left_out = {});

[[nodiscard]] std::unique_ptr<InferEngine> make_engine(EngineParts parts);

}  // namespace starling
