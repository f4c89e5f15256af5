/// Follows the paths of models and notes how sure their averages are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "starling/core/snapshot.hpp"
#include "starling/inference/path_intervals.hpp"
#include "starling/protocol/observer.hpp"
#include "starling/record/intervals/interval.hpp"
#include "starling/record/rounds.hpp"

namespace starling {

/// What is made of paths.
struct PathMethods {
  bool random_scaling = true;
  std::optional<int> batch_means;  ///< M
  double alpha = 0.51;             ///< of the steps, for the ends of batches
  Round steps = 0;                 ///< that the run plans
  Round burn_in = 0;               ///< steps whose models do not count
};

/// A way to intervals, with what it says of one client's average.
struct MethodSpread {
  std::string method;  ///< "random-scaling", "batch-means"
  Spread spread;
  void persist(Snapshot& snapshot) { snapshot(method, spread); }
};

/// Averages and spreads after so many steps.
struct PathAt {
  Round steps = 0;
  std::vector<std::vector<MethodSpread>> clients;  ///< of each local client that is noted
  void persist(Snapshot& snapshot) { snapshot(steps, clients); }
};

class IntervalRecorder final : public Observer {
 public:
  /// Follows the first `clients` local clients, with d-dimensional models, and notes those of `noted` along the way.
  IntervalRecorder(const PathMethods& methods, std::size_t clients, std::vector<std::size_t> noted,
                   std::size_t dimension, RecordRounds rounds);

  void after(const RoundView& view) override;
  /// Notes the last step, if it is not noted.
  void finish(const RoundView& view);

  [[nodiscard]] const std::vector<PathAt>& noted() const { return path_; }
  /// What the whole path of local client k says by each method.
  [[nodiscard]] std::vector<MethodSpread> spreads(std::size_t k) const;
  /// Models of local client k that count: after the burn-in, each with a step that led to it.
  [[nodiscard]] Round counted(std::size_t k) const { return paths_[k].count(); }
  /// n θ̄' V̂⁻¹ θ̄ of these coordinates on local client k's path; none where V̂ is singular.
  [[nodiscard]] std::optional<double> joint_statistic(std::size_t k,
                                                      const std::vector<std::size_t>& coordinates) const {
    if (paths_[k].count() < 2) return std::nullopt;
    return paths_[k].joint_statistic(coordinates);
  }
  /// θ̄ of local client k: of its models after the burn-in; the last model if there is none.
  [[nodiscard]] Vector estimate(std::size_t k, const RoundView& view) const;
  void persist(Snapshot& snapshot) { snapshot(rounds_, paths_, batches_, path_); }

 private:
  void note(Round steps);

  PathMethods methods_;
  std::vector<std::size_t> noted_;
  RecordRounds rounds_;
  std::vector<RandomScaling> paths_;
  std::vector<BatchMeans> batches_;
  std::vector<PathAt> path_;
};

/// The quantile that a method's spread is multiplied by for an interval of this level.
[[nodiscard]] double interval_quantile(const std::string& method, double level);

/// Intervals of these names and levels, method by method; where a spread is zero or unknown there is no interval.
[[nodiscard]] std::vector<Interval> intervals_of(const std::vector<MethodSpread>& methods,
                                                 const std::vector<std::string>& names,
                                                 const std::vector<double>& levels, std::optional<Client> client);

}  // namespace starling
