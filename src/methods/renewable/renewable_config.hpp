/// Configuration of `starling renewable`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/renewable/renewable_settings.hpp"
#include "run/settings/tuned_config.hpp"

namespace starling {

struct Manual;

enum class RenewableVariant { online, offline, offline_one_step, private_paper, private_sums };
enum class TrustChoice { local, pairs, central, masked };
enum class StandardErrors { automatic, none, model, sandwich };

struct RenewableConfig : TunedConfig {
  RenewableConfig() { deals_evenly = false; }
  RenewableVariant variant = RenewableVariant::online;
  std::string smoothing = "auto";
  RenewableSettings settings;
  std::optional<std::string> asked_l2;  ///< none: settings.l2 has the variant's own default
  [[nodiscard]] bool penalty_changes() const { return asked_l2 && asked_l2->starts_with("schedule:"); }
  TrustChoice trust = TrustChoice::local;
  std::string curvature = "double";
  std::string curvature_model = "average";
  std::string classes_text = "binary";
  std::optional<double> c1;
  std::optional<double> c2;
  std::optional<double> cp;
  std::optional<double> rho;
  StandardErrors standard_errors = StandardErrors::automatic;
  double level = 0.95;

  /// File of batch sizes by client and round; empty where all have data.batch, else that is the largest.
  std::string batch_file;
  /// Whether nobody chose --batch for a first batch that must determine a model without penalty.
  bool opens_batch = false;

  /// K of one-vs-rest; 1 for binary.
  std::size_t classes = 1;
  /// Share of the price that released curvature takes; none for public curvature.
  std::optional<double> curvature_share;
  /// File of public curvature; empty for the average.
  std::string curvature_file;

  [[nodiscard]] bool offline() const {
    return variant == RenewableVariant::offline || variant == RenewableVariant::offline_one_step;
  }
  /// Whether --tuning chooses what the user left open of --batch, or of how columns are scaled.
  [[nodiscard]] bool tunes() const { return tune.value_or(true); }
  /// Whether sums travel un-noised and unprotected.
  [[nodiscard]] bool open() const { return offline() || variant == RenewableVariant::online; }
  /// Why the noise of this run cannot be correlated over its batches; empty where it can.
  [[nodiscard]] std::string why_no_correlation() const;
};

/// λ by batch, as --l2 says. Throws UsageError.
[[nodiscard]] RoundValues penalty_by_batch(const std::string& text, Round batches);
[[nodiscard]] Options renewable_options(RenewableConfig& config);
/// Checks what single options do not show, and fills in what follows from them. Throws UsageError.
void complete_renewable_config(RenewableConfig& config, const Options& options);
[[nodiscard]] Manual renewable_manual();

}  // namespace starling
