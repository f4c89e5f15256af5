/// Confidence intervals of `starling infer`, as results of one engine.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/constants.hpp"
#include "infer_engine.hpp"
#include "inference/plug_in.hpp"
#include "net/agreement.hpp"
#include "output/checkpoints/checkpointer.hpp"
#include "output/intervals/interval_recorder.hpp"
#include "output/model_file/saved_model.hpp"
#include "output/rounds.hpp"
#include "report/summary.hpp"

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

/// Facts of a run on which its intervals depend. References must outlive the results.
struct IntervalFacts {
  Agreement& agreement;
  const Layout& layout;
  const InferConfig& config;
  std::size_t dimension;           ///< d
  std::vector<std::string> names;  ///< of the coefficients
  Vector records;                  ///< of each client; infinite where nobody knows beforehand
  bool noise_is_taken_back;        ///< by later steps
  bool standardised;               ///< all records are, by `constants`, which ranks with paths have
  const std::optional<PublicConstants>& constants;
  bool knows_scales;  ///< of the features, by public constants or a warm-up, or the path shows whether they suit it
  std::vector<std::size_t> left_out = {};  ///< features without a coefficient
};

/// The map to the units of the source; none where records are not standardised, or no intervals are wanted.
[[nodiscard]] std::optional<AffineMap> map_to_own_units(const IntervalFacts& facts);

/// The names of these coefficients in quotation marks.
[[nodiscard]] std::string quoted_names(const std::vector<std::size_t>& coefficients,
                                       const std::vector<std::string>& names);

/// Estimates of one engine with their intervals. In this order: observers() and add_parts() for the rounds; after them,
/// for one run, estimates(), summarise(), spread_of_parameters() and path_to(), or for a replication all_along().
class IntervalResults {
 public:
  IntervalResults() = default;
  IntervalResults(const IntervalResults&) = delete;
  IntervalResults& operator=(const IntervalResults&) = delete;
  virtual ~IntervalResults() = default;

  /// The observers of this rank's paths.
  [[nodiscard]] virtual std::vector<Observer*> observers() = 0;
  virtual void add_parts(KeptParts& parts) = 0;

  /// Models that the rounds end with, d × local clients. **Collective.**
  [[nodiscard]] virtual Released<Columns> estimates() = 0;
  /// Intervals, tests and whether they may be trusted, on rank 0; appends their notes to `notes`. **Collective.**
  [[nodiscard]] virtual RunIntervals summarise(std::vector<std::string>& notes) = 0;
  /// The spread of an aggregated regression's estimate, on rank 0; none where its rounds have not settled.
  [[nodiscard]] virtual std::optional<ParameterSpread> spread_of_parameters() const = 0;
  /// Intervals along the way of the aggregator, or of client 0, on rank 0. The aggregator's end is `last`, as
  /// summarise() has found it.
  [[nodiscard]] virtual std::vector<IntervalsAt> path_to(const std::vector<Interval>& last) const = 0;
  /// Intervals along the way of the aggregator, then all intervals of a run that has taken all its steps, on rank 0.
  /// Notes are left out. **Collective.**
  [[nodiscard]] virtual std::vector<IntervalsAt> all_along() = 0;
};

/// The results of an engine's estimator. Keeps references.
[[nodiscard]] std::unique_ptr<IntervalResults> make_interval_results(const IntervalFacts& facts, InferEngine& engine);

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

/// The estimate of Newton's rounds with its intervals by curvature, squares and known noise. Rank 0 has them; there are
/// none along the way.
class NewtonResults final : public IntervalResults {
 public:
  /// Keeps references.
  NewtonResults(const IntervalFacts& facts, const NewtonRounds& rounds)
      : facts_(facts), rounds_(rounds), to_own_units_(map_to_own_units(facts)) {}

  [[nodiscard]] std::vector<Observer*> observers() override { return {}; }
  void add_parts(KeptParts& /*parts*/) override {}
  [[nodiscard]] Released<Columns> estimates() override;
  [[nodiscard]] RunIntervals summarise(std::vector<std::string>& notes) override;
  [[nodiscard]] std::optional<ParameterSpread> spread_of_parameters() const override;
  [[nodiscard]] std::vector<IntervalsAt> path_to(const std::vector<Interval>& /*last*/) const override { return {}; }
  [[nodiscard]] std::vector<IntervalsAt> all_along() override;

 private:
  [[nodiscard]] NewtonSettling settling_of(const NewtonEstimate& estimate) const;
  /// Wald's test that all slopes are 0; none where one is not determined.
  [[nodiscard]] std::optional<JointTest> joint_test(const NewtonEstimate& estimate) const;
  [[nodiscard]] bool is_left_out(std::size_t j) const {
    return std::binary_search(facts_.left_out.begin(), facts_.left_out.end(), j);
  }
  /// Intervals of an estimate with these deviations. Features that are left out have neither.
  [[nodiscard]] std::vector<Interval> intervals_of_spread(Vector estimate, Vector deviations) const;

  const IntervalFacts& facts_;
  const NewtonRounds& rounds_;
  std::optional<AffineMap> to_own_units_;
};

}  // namespace starling
