/// Confidence intervals from paths.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/infer_engine.hpp"
#include "inference/plug_in.hpp"
#include "interval_results.hpp"
#include "net/agreement.hpp"
#include "output/intervals/interval_recorder.hpp"
#include "output/rounds.hpp"
#include "setting/infer_config.hpp"

namespace starling {

/// The observer that keeps what plug-in intervals of the recorded steps need. It looks after the IntervalRecorder of
/// the same rounds.
class PlugInPath final : public Observer {
 public:
  /// For runs with an aggregator. `engine` and `recorder` must outlive the observer.
  PlugInPath(InferEngine& engine, const IntervalRecorder& recorder, RecordRounds rounds, Round burn_in)
      : engine_(engine), recorder_(recorder), rounds_(rounds), burn_in_(burn_in) {
    static_cast<void>(rounds_.due(0));
  }

  void after(const RoundView& view) override;
  /// The spreads by number of steps, on rank 0; empty elsewhere. `batch` records of a client make a step.
  /// **Collective.**
  [[nodiscard]] std::vector<std::pair<Round, MethodSpread>> spreads(std::size_t batch);
  void persist(Snapshot& snapshot) {
    snapshot(rounds_);
    snapshot.of_first_rank(engine_.paths() > 0, moments_);
  }

 private:
  /// The state of the path after a recorded step, on rank 0.
  struct Moment {
    Round counted = 0;
    Vector estimate;
    double inverse_clients = 1;
    void persist(Snapshot& snapshot) { snapshot(counted, estimate, inverse_clients); }
  };

  InferEngine& engine_;
  const IntervalRecorder& recorder_;
  RecordRounds rounds_;
  Round burn_in_;
  std::vector<Moment> moments_;
};

/// Results of paths: of the aggregator's, which rank 0 has, or of all clients' over a graph. Estimates are means of the
/// paths, less their bias if that is asked for.
class PathResults final : public IntervalResults {
 public:
  /// Follows the paths of `engine`. Keeps references to its arguments and to parts of itself.
  PathResults(const IntervalFacts& facts, InferEngine& engine);

  [[nodiscard]] std::vector<Observer*> observers() override;
  void add_parts(KeptParts& parts) override;
  [[nodiscard]] Released<Columns> estimates() override;
  [[nodiscard]] RunIntervals summarise(std::vector<std::string>& notes) override;
  [[nodiscard]] std::optional<ParameterSpread> spread_of_parameters() const override;
  [[nodiscard]] std::vector<IntervalsAt> path_to(const std::vector<Interval>& last) const override;
  [[nodiscard]] std::vector<IntervalsAt> all_along() override;

 private:
  [[nodiscard]] bool of_clients() const { return facts_.config.decentralized(); }
  [[nodiscard]] bool first_rank() const { return facts_.agreement.rank() == 0; }
  [[nodiscard]] double records_after(Round steps) const;
  /// Steps of the run so far. Rounds in which nobody participates are no steps of an aggregator.
  [[nodiscard]] Round steps_taken() const;
  /// Number of counted models, of a path of this rank, that intervals need.
  [[nodiscard]] Round least_counted() const { return least_steps_each * static_cast<Round>(facts_.dimension); }
  [[nodiscard]] bool is_too_short(std::size_t k) const { return recorder_.counted(k) < least_counted(); }
  /// The spreads of a path of this rank; infinite if the path is too short.
  [[nodiscard]] std::vector<MethodSpread> spreads_of(const IntervalRecorder& recorder, std::size_t k) const;
  void note_short_paths(std::vector<std::string>& notes) const;
  [[nodiscard]] std::vector<IntervalsAt> path() const;
  [[nodiscard]] std::vector<Interval> intervals(std::vector<std::string>& notes);
  [[nodiscard]] std::vector<MethodSpread> spreads_of_aggregator(std::vector<std::string>& notes);
  [[nodiscard]] std::vector<MethodSpread> plug_in_spreads(std::vector<std::string>& notes);
  void treat_bias(std::vector<MethodSpread>& spreads, std::vector<std::string>& notes) const;
  [[nodiscard]] std::vector<Interval> intervals_of_clients(const IntervalRecorder& recorder) const;
  [[nodiscard]] std::vector<MethodSpread> own_spreads_of_aggregator() const;
  [[nodiscard]] std::vector<Interval> intervals_in_own_units() const;
  [[nodiscard]] RunSettling settling(const std::vector<Interval>& intervals) const;
  [[nodiscard]] std::optional<JointTest> joint_test() const;

  const IntervalFacts& facts_;
  const InferConfig& config_;
  InferEngine& engine_;
  bool noted_;  ///< whether intervals along the way are, on this rank
  IntervalRecorder recorder_;
  std::optional<IntervalRecorder> own_recorder_;  ///< in the source's own units
  std::optional<AffineMap> to_own_units_;         ///< on ranks with paths
  std::optional<PlugInPath> plug_in_path_;
  std::vector<std::pair<Round, MethodSpread>> plug_in_spreads_;  ///< on rank 0, along the way
  std::optional<PlugIn> plug_in_;                                ///< on rank 0, of the end
};

}  // namespace starling
