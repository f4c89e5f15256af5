/// `starling infer` in one run, before its steps.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "data/constants.hpp"
#include "data/serving/dataset.hpp"
#include "data/settings.hpp"
#include "data/stream.hpp"
#include "infer_config.hpp"
#include "infer_engine.hpp"
#include "interval_results.hpp"
#include "methods/omd/step_cap_choice.hpp"
#include "net/agreement.hpp"
#include "privacy/mechanism/paired_mechanism.hpp"
#include "privacy/metrics_policy.hpp"
#include "protocol/aggregated/preconditioned.hpp"
#include "protocol/person_model.hpp"
#include "run/privacy/run_pairs.hpp"
#include "run/stages/method.hpp"
#include "run/stages/run_home.hpp"
#include "run/tuning/tuned_settings.hpp"

namespace starling {

/// Limits of a sum over records that is released once: its number of records (the grid of privacy/noise/grid.hpp ends
/// at 2^22), and the room for roundings that so many need, in multiples of the sum's clip.
inline constexpr double most_records_of_sum = 4'000'000;
inline constexpr double room_of_sum = 1 + 0x1p-8;

/// The first rounds of a run, which are no steps: their records make the coordinates in which all steps are taken. In
/// this order: part(), when the run's mechanism is made; play(), before the engine is made.
class WarmUp {
 public:
  /// Keeps references. `label`: whether labels are numbers, which give a start as well.
  WarmUp(const InferConfig& config, const Dataset& dataset, bool label, Round rounds)
      : config_(config), dataset_(dataset), label_(label), rounds_(rounds) {}

  [[nodiscard]] Round rounds() const { return rounds_; }
  /// The part of releases that has a client's sum of second moments. Throws UsageError where there can be none.
  [[nodiscard]] SecondPart part() const;
  /// Plays the rounds. Then gives `parts` the start, the first step's round, and a model and a mechanism that know the
  /// coordinates in place of its own; its mechanism must have part(). `parts` must not outlive the warm-up. Returns the
  /// features that have most of a direction in which noise hides how they vary. May be called again, for a replication.
  /// **Collective.**
  [[nodiscard]] std::vector<std::size_t> play(EngineParts& parts, Agreement& agreement);
  /// Whether the last play() has found the scales of the features.
  [[nodiscard]] bool found_scales() const { return preconditioner_ && preconditioner_->found_scales(); }

 private:
  [[nodiscard]] MomentSums sums() const { return {dataset_.shape.features, label_}; }
  [[nodiscard]] Released<Vector> moments_of_client(std::size_t k, const EngineParts& parts) const;

  const InferConfig& config_;
  const Dataset& dataset_;
  bool label_;
  Round rounds_;
  std::optional<Preconditioner> preconditioner_;
  std::optional<Released<Vector>> start_;
  std::optional<PreconditionedModel> model_;
  std::optional<PreconditionedReleases> releases_;
};

/// The check of columns of a run without protection, where nobody has to be asked. It finds columns that never vary,
/// and constants that bring columns of very different scales to one. In this order: look() on ranks with clients,
/// propose() on all ranks, and after the rounds write_proposal() on rank 0.
class ColumnCheck {
 public:
  /// Keeps a reference of `shape`. `may_look`: whether the run may look at its records.
  ColumnCheck(const DataSettings& data, const DataShape& shape, bool may_look);

  /// Reads the records of the first `steps` steps. Returns the features that have one value in all of this rank's,
  /// ascending. Rank-local.
  [[nodiscard]] std::vector<std::size_t> look(const std::vector<std::unique_ptr<Stream>>& streams, Round steps,
                                              const MetricsPolicy& policy);
  /// Finds constants for the features, and for the label `with_label`, if one of them is far from standardised.
  /// **Collective.**
  void propose(Agreement& agreement, bool with_label);
  /// Writes the constants, if there are any, to FOLDER/standardise.csv, with this name of the label. Returns a note
  /// that says so, or nothing. Throws FailureError.
  [[nodiscard]] std::string write_proposal(const std::string& folder, const std::string& label) const;

 private:
  const DataShape& shape_;
  bool watches_scales_;
  Released<Columns> moments_ = declare_public(Columns());  ///< by client, where scales are watched
  std::vector<Standardisation> proposed_;                  ///< of all columns; empty if none are needed
};

struct InferParts {
  InferConfig& config;
  std::unique_ptr<Schedule> schedule = nullptr;  ///< of runs with --topology
  std::optional<double> contraction = {};        ///< of the graph, per exchange; none where it is not known
  std::unique_ptr<CurvedLoss> loss = nullptr;
  std::unique_ptr<MallowsModel> model = nullptr;
  Released<Vector> start = declare_public(Vector());
  std::optional<WarmUp> warm_up = {};                ///< of runs with --warmup-share, once their steps are known
  std::optional<ColumnCheck> columns = {};           ///< once the model is open
  std::optional<IntervalFacts> interval_facts = {};  ///< once the ranks agree on the model
  std::optional<PersonModel> persons = {};           ///< of runs of unit person
  std::set<std::size_t> hidden = {};                 ///< features that a warm-up could not tell from noise

  [[nodiscard]] std::vector<std::string> coefficient_names(const DataShape& shape) const;
  /// Says which features the warm-up could not tell from noise, if there are any.
  void note_hidden(RunContext& run) const;
};

/// An engine with these streams and accounts, which belong to this rank's clients, and the keys of the run. Plays the
/// warm-up, if there is one. **Collective.**
[[nodiscard]] std::unique_ptr<InferEngine> make_engine(const BegunRun& begun, InferParts& parts,
                                                       std::vector<std::unique_ptr<Stream>> streams,
                                                       Accounts& accounts);

class InferMethod final : public Method {
 public:
  InferMethod(RunContext& run, RunHome& home, Configured<InferConfig>& configuration);

  [[nodiscard]] RunFacts privacy_facts() override;
  [[nodiscard]] std::string digest_of_inputs(const std::string& of_all_methods) const override {
    return of_all_methods + digest_of(config_.step_cap);
  }
  [[nodiscard]] std::unique_ptr<Play> make(const BegunRun& begun) override;
  /// The coverage of intervals, by independent runs on a generator (--replications).
  [[nodiscard]] std::optional<ExitCode> study(const BegunRun& begun) override;

 private:
  void open_graph();
  void open_data();
  void choose_settings();
  [[nodiscard]] std::string why_own_units() const;
  [[nodiscard]] TunedMethod method_of_constants();
  /// Releases constants of features, and of labels that are numbers, and reads the records again by them. `path`: why
  /// the estimate is that of a path, which has none; empty for Newton's rounds. Returns what the configuration then
  /// has.
  /// **Collective.**
  [[nodiscard]] std::vector<TunedValue> release_constants(const std::string& path,
                                                          const std::optional<std::int64_t>& records);
  [[nodiscard]] HistogramShares shares_of_constants() const;
  void tune(const std::optional<std::int64_t>& records);
  void take_whole_rounds(std::int64_t records);
  void choose_pairs();
  void open_model();
  void agree_on_model();
  void choose_steps();
  [[nodiscard]] bool path_tells_scales() const;
  /// **Collective.**
  [[nodiscard]] Vector count_records();
  void look_at_columns();
  void refuse_constant_columns(const std::vector<std::size_t>& constant);
  [[nodiscard]] std::unique_ptr<Protection> make_protection(ReleaseSettings settings) const;
  /// Whether curvatures are released beside directions.
  [[nodiscard]] bool two_parts() const { return config_.plug_in || config_.curvature_by_step(); }
  [[nodiscard]] SecondPart plug_in_part() const;
  /// The second part of each round's release, where it has two.
  [[nodiscard]] std::optional<SecondPart> second_part() const;
  [[nodiscard]] bool unprotected() const { return !config_.privacy.protects(); }
  void check_truth() const;

  Configured<InferConfig>& configuration_;
  InferConfig& config_ = configuration_.values();
  InferParts parts_{config_};
  std::shared_ptr<const RunPairs> pairs_;  ///< under --trust pairs
  bool even_masses_ = false;               ///< every client has a mass of 1 in every round
};

}  // namespace starling
