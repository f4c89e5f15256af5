/// The observer of the paths of models, for intervals around their averages (docs/methods/inference.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/snapshot.hpp"
#include "inference/affine_map.hpp"
#include "inference/overlapping_batches.hpp"
#include "inference/path_intervals.hpp"
#include "inference/settling.hpp"
#include "output/intervals/interval.hpp"
#include "output/rounds.hpp"
#include "protocol/observer.hpp"

namespace starling {

/// The interval methods that are applied to paths.
struct PathMethods {
  bool random_scaling = true;
  std::optional<int> batch_means;  ///< M
  bool overlapping_batches = false;
  double alpha = 0.51;               ///< exponent of the steps, which sets the ends of batches
  Round steps = 0;                   ///< planned steps
  Round burn_in = 0;                 ///< first steps, whose models do not count
  bool noise_is_taken_back = false;  ///< by later steps
};

/// One method's spread of one client's average.
struct MethodSpread {
  std::string method;  ///< "random-scaling", "batch-means", "overlapping-batches"
  Spread spread;
  void persist(Snapshot& snapshot) { snapshot(method, spread); }
};

/// Averages and spreads after a number of steps.
struct PathAt {
  Round steps = 0;
  std::vector<std::vector<MethodSpread>> clients;  ///< by noted local client, then by method
  void persist(Snapshot& snapshot) { snapshot(steps, clients); }
};

/// The models whose paths are followed: one for each client of the rank, or the aggregator's, which rank 0 has.
enum class PathsOf { clients, aggregator };

/// The observer of one rank's paths.
class IntervalRecorder final : public Observer {
 public:
  /// Follows the first `clients` local clients, with d-dimensional models. Spreads of the clients `noted` are kept at
  /// recorded rounds.
  IntervalRecorder(const PathMethods& methods, std::size_t clients, std::vector<std::size_t> noted,
                   std::size_t dimension, RecordRounds rounds, PathsOf whose = PathsOf::clients);
  /// Follows images of models under this map instead.
  void see_through(AffineMap map) { map_ = std::move(map); }

  void after(const RoundView& view) override;
  /// Keeps the spreads of the last step.
  void finish(const RoundView& view);

  [[nodiscard]] const std::vector<PathAt>& noted() const { return path_; }
  /// The spreads of local client k's whole path, by method.
  [[nodiscard]] std::vector<MethodSpread> spreads(std::size_t k) const;
  /// Number of models of local client k that count: those that a step after the burn-in led to.
  [[nodiscard]] Round counted(std::size_t k) const { return paths_[k].count(); }
  /// V̂/n of local client k's path by random scaling, a packed upper triangle; at least one model must count.
  [[nodiscard]] Vector scaling(std::size_t k) const;
  /// The statistic n θ̄' V̂⁻¹ θ̄ of these coordinates on local client k's path; none where V̂ is singular.
  [[nodiscard]] std::optional<double> joint_statistic(std::size_t k,
                                                      const std::vector<std::size_t>& coordinates) const {
    if (paths_[k].count() < 2) return std::nullopt;
    return paths_[k].joint_statistic(coordinates);
  }
  /// Whether local client k's path has settled, as far as it tells.
  [[nodiscard]] std::optional<Settling> settling(std::size_t k) const {
    return settling_of(blocks_[k], methods_.noise_is_taken_back);
  }
  /// θ̄ of local client k: the mean of the models that count, or the last model if none counts.
  [[nodiscard]] Vector estimate(std::size_t k, const RoundView& view) const;
  void persist(Snapshot& snapshot);

 private:
  void note(Round steps);
  [[nodiscard]] View seen(View theta);

  PathMethods methods_;
  std::vector<std::size_t> noted_;
  RecordRounds rounds_;
  PathsOf whose_;
  std::vector<RandomScaling> paths_;
  std::vector<BatchMeans> batches_;
  std::vector<OverlappingBatches> overlapping_;
  std::vector<PathBlocks> blocks_;
  std::optional<AffineMap> map_;
  Vector image_;
  std::vector<PathAt> path_;
};

/// The quantile by which a method's spread is multiplied for an interval of this level.
[[nodiscard]] double interval_quantile(const std::string& method, double level);

/// The intervals for these names and levels, method by method. A spread of zero or NaN gives no interval.
[[nodiscard]] std::vector<Interval> intervals_of(const std::vector<MethodSpread>& methods,
                                                 const std::vector<std::string>& names,
                                                 const std::vector<double>& levels, std::optional<Client> client);

}  // namespace starling
