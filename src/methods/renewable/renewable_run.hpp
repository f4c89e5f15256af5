/// One run of `starling renewable`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "output/intervals/interval.hpp"
#include "protocol/person_model.hpp"
#include "protocol/renewable/offline_renewable.hpp"
#include "protocol/renewable/online_renewable.hpp"
#include "protocol/renewable/paper_renewable.hpp"
#include "protocol/renewable/private_renewable.hpp"
#include "renewable_config.hpp"
#include "run/aggregated_run.hpp"

namespace starling {

/// One run of `starling renewable` on one rank.
class RenewableRun final : public AggregatedRun {
 public:
  RenewableRun(World& world, Configured<RenewableConfig>& configuration, RunStart start)
      : AggregatedRun(world, "renewable", configuration, std::move(start)), configuration_(configuration) {}

 private:
  [[nodiscard]] std::string digest_of_inputs() const override;
  [[nodiscard]] AggregatedRounds& protocol() const override { return *protocol_; }
  [[nodiscard]] Model& model() const override { return *model_; }
  [[nodiscard]] Round planned_rounds() const override { return config_.settings.rounds; }
  /// A curvature that is stated grows with the batches, so that batch b has a step of the length 1/b.
  [[nodiscard]] std::optional<StepSchedule> steps() const override {
    if (config_.variant != RenewableVariant::private_sums) return std::nullopt;
    return StepSchedule{.step = 1, .step_power = 1};
  }

  void open_data() override;
  void choose_settings() override;
  void open_model() override;
  void agree_on_model() override { choose_correlation(); }
  [[nodiscard]] RunFacts privacy_facts() override;
  void build_protocol() override;
  void play_rounds(const std::vector<Observer*>& observers) override;
  [[nodiscard]] RoundsEnd end_rounds() override;
  void summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) override;
  void complete_summary(Summary& summary) override;
  [[nodiscard]] std::optional<SavedModel> model_of_results() const override;
  [[nodiscard]] ExitCode exit_code(const Summary& summary, const RoundsEnd& end) override;

  [[nodiscard]] TunedValue batch_of_default() const;
  void choose_rounds();
  void choose_correlation();
  [[nodiscard]] bool correlates_by_default(Round rounds) const;
  [[nodiscard]] std::unique_ptr<Protection> make_protection(ReleaseSettings settings) const;
  [[nodiscard]] SecondPart curvature_part() const;
  [[nodiscard]] TrustModel trust_model() const;
  [[nodiscard]] PaperTerms paper_terms() const;
  [[nodiscard]] double average_curvature() const;
  [[nodiscard]] Vector curvature_of_file() const;
  void build_private_sums();
  void make_noisy_sum();
  [[nodiscard]] std::vector<Masker> agree_on_masks();
  void show_mask_keys();
  [[nodiscard]] const OfflineRenewable* search() const;
  [[nodiscard]] std::vector<Interval> intervals() const;
  [[nodiscard]] OnlineRenewable::Dispersion dispersion() const;
  [[nodiscard]] std::optional<BatchScores> batch_scores() const;
  [[nodiscard]] std::vector<std::string> coefficient_names() const;
  void add_notes();

  Configured<RenewableConfig>& configuration_;
  RenewableConfig& config_ = configuration_.values();
  std::unique_ptr<CurvedLoss> curved_;
  std::unique_ptr<CurvedModel> model_;
  std::optional<PersonModel> persons_;  ///< of runs of unit person
  Vector given_curvature_;              ///< K packed triangles of a record, from a file; empty without it
  std::optional<Released<Vector>> start_;
  std::unique_ptr<Codec> codec_;
  std::optional<RenewableClients> clients_;
  std::vector<MaskKey::Bytes> mask_keys_;  ///< of all clients, as this rank received them; empty without masks
  std::unique_ptr<NoisySum> sum_;
  std::unique_ptr<Renewable> protocol_;
};

}  // namespace starling
