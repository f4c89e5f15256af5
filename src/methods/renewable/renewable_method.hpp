/// `starling renewable` in one run, before its rounds.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/boundary.hpp"
#include "core/columns.hpp"
#include "renewable_config.hpp"
#include "run/settings/configuration.hpp"
#include "run/stages/method.hpp"

namespace starling {

class CurvedLoss;
class CurvedModel;
class Protection;
class RunPairs;
struct HistogramShares;
struct PaperTerms;
struct ReleaseSettings;
struct SecondPart;
struct TunedMethod;
struct TunedValue;
enum class TrustModel;

/// Loss, model and start of a run of renewable estimation, once they are settled.
struct RenewableParts {
  explicit RenewableParts(RenewableConfig& of_run);
  ~RenewableParts();

  RenewableConfig& config;
  std::unique_ptr<CurvedLoss> loss;
  std::unique_ptr<CurvedModel> model;
  Vector given_curvature = {};  ///< K packed triangles of a record, from a file; empty without it
  Released<Vector> start = declare_public(Vector());
  std::vector<std::size_t> left_out = {};  ///< features whose columns released constants leave out, ascending
};

class RenewableMethod final : public Method {
 public:
  RenewableMethod(RunContext& run, RunHome& home, Configured<RenewableConfig>& configuration);

  [[nodiscard]] RunFacts privacy_facts() override;
  [[nodiscard]] std::string digest_of_inputs(const std::string& of_all_methods) const override;
  [[nodiscard]] std::unique_ptr<Play> make(const BegunRun& begun) override;

 private:
  void open_data();
  void deal_batches();
  void choose_settings();
  void choose_batch();
  [[nodiscard]] TunedMethod method_of_constants();
  [[nodiscard]] std::string why_own_units() const;
  [[nodiscard]] HistogramShares shares_of_constants() const;
  void open_model();
  [[nodiscard]] TunedValue batch_of_default(std::int64_t most_records) const;
  [[nodiscard]] bool looks_again() const;
  void choose_pairs();
  void choose_rounds();
  void choose_correlation();
  [[nodiscard]] bool correlates_by_default(Round rounds) const;
  [[nodiscard]] std::unique_ptr<Protection> make_protection(ReleaseSettings settings) const;
  [[nodiscard]] SecondPart curvature_part() const;
  [[nodiscard]] TrustModel trust_model() const;
  [[nodiscard]] PaperTerms paper_terms() const;
  [[nodiscard]] Vector curvature_of_file() const;

  Configured<RenewableConfig>& configuration_;
  RenewableConfig& config_ = configuration_.values();
  RenewableParts parts_{config_};
  std::shared_ptr<const RunPairs> pairs_;  ///< under --trust pairs
};

}  // namespace starling
