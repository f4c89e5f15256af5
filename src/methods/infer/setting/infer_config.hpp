/// Configuration of `starling infer`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/aggregated/ldp_sgd_settings.hpp"
#include "protocol/decentralized/settings.hpp"
#include "run/settings/tuned_config.hpp"

namespace starling {

struct Manual;

/// Steps for each coefficient without which asymptotic intervals mean nothing.
inline constexpr Round least_steps_each = 30;

/// The party that adds noise: each client; each client, but rank 0 to the sum of plug-in matrices; or each client, and
/// each pair of clients beside it.
enum class PlugInTrust { local, central, pairs };
/// Whether the curvature bias of averages stays or is removed.
enum class BiasChoice { keep, remove };

/// Whence the estimate: the average of a path of stochastic gradient descent, of which each record makes one step; or
/// Newton's method, each of whose rounds reads all records. Automatic: Newton's where that is known to work.
enum class Estimator { automatic, path, newton };

struct InferConfig : TunedConfig {
  // clients and graph
  std::optional<std::string> topology;
  MixingSettings mixing;
  // data
  std::optional<bool> asked_intercept;
  bool intercept = true;  ///< of the model; asked_intercept says otherwise
  // method
  LdpSgdSettings sgd;
  std::optional<double> step_offset;
  std::optional<double> asked_step_cap;  ///< none: chosen by the masses of the graph
  double step_cap = 1;                   ///< of the run, over a graph
  Estimator estimator = Estimator::automatic;
  std::string option_of_path;  ///< one that the user gave and that means something to a path alone; empty without
  // intervals
  std::string intervals_text = "random-scaling";
  std::vector<double> levels{0.95};
  Round burn_in = 0;
  bool joint = false;
  PlugInTrust trust = PlugInTrust::local;
  BiasChoice bias = BiasChoice::keep;
  double warmup_share = 0;   ///< of the steps, whose records make the preconditioner
  double bias_share = 0.19;  ///< of the square of μ, for curvatures that plug-in intervals do not release anyway
  /// Independent runs on a generator, to see how often intervals cover; 0: one run, with all its results.
  std::int64_t replications = 0;

  // The kinds of intervals that intervals_text names.
  bool random_scaling = false;
  bool plug_in = false;
  bool plug_in_path = false;  ///< plug-in intervals along the way
  std::optional<int> batch_means;
  bool overlapping_batches = false;
  bool one_price = true;  ///< whether all clients and rounds have the same

  /// Whether the curvature bias is estimated from each step's curvature, which is released with its direction. The
  /// squared loss has none: its curvature is the same for all models.
  [[nodiscard]] bool curvature_by_step() const {
    return bias == BiasChoice::remove || (plug_in && trust == PlugInTrust::local && one_price && loss != "squared");
  }
  /// Whether releases of directions stand alone, each record in one of them, so that their noise can be correlated.
  [[nodiscard]] bool may_correlate() const;
  /// Whether what the user left open of the tuned options is chosen. Long steps over a graph keep clients apart, so
  /// that there it has to be asked for.
  [[nodiscard]] bool tunes() const { return tune.value_or(!decentralized()); }
  [[nodiscard]] bool newton() const { return estimator == Estimator::newton; }
  [[nodiscard]] bool decentralized() const { return topology.has_value(); }
};

[[nodiscard]] Options infer_options(InferConfig& config);
/// Checks what single options do not show, and fills in what follows from them. Throws UsageError.
void complete_infer_config(InferConfig& config, const Options& options);
[[nodiscard]] Manual infer_manual();

}  // namespace starling
