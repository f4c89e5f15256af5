/// `starling infer` in one run, before its steps.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "infer_parts.hpp"
#include "privacy/mechanism/second_part.hpp"
#include "run/settings/configuration.hpp"
#include "run/stages/method.hpp"
#include "setting/infer_config.hpp"

namespace starling {

class Protection;
class RunPairs;
struct HistogramShares;
struct ReleaseSettings;
struct TunedMethod;
struct TunedValue;

class InferMethod final : public Method {
 public:
  InferMethod(RunContext& run, RunHome& home, Configured<InferConfig>& configuration);

  [[nodiscard]] RunFacts privacy_facts() override;
  [[nodiscard]] std::string digest_of_inputs(const std::string& of_all_methods) const override;
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
