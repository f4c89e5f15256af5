/// One run of `starling renewable`.
#pragma once

#include "app/run/aggregated_run.hpp"
#include "renewable_config.hpp"
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "starling/protocol/renewable/offline_renewable.hpp"
#include "starling/protocol/renewable/online_renewable.hpp"
#include "starling/protocol/renewable/paper_renewable.hpp"
#include "starling/protocol/renewable/private_renewable.hpp"

namespace starling {

/// One run of `starling renewable` on one rank, from configuration to results.
class RenewableRun final : public AggregatedRun {
 public:
  RenewableRun(World& world, std::string command_line) : AggregatedRun(world, "renewable", std::move(command_line)) {}

  ExitCode run(const std::vector<std::string>& words) {
    configure([&] { config_ = parse_renewable_config(words); });
    if (is_finished()) return show_finished();
    agreement_.together([&] { open_data(); });
    agree_on_data();
    agreement_.together([&] { open_model(); });
    open_protection();
    make_directory();
    make_protocol();
    return play();
  }

 private:
  [[nodiscard]] const LearningConfig& common() const override { return config_; }

  [[nodiscard]] std::string why_not_resumable() const override;
  [[nodiscard]] std::string why_no_more_rounds() const override {
    return config_.variant == RenewableVariant::private_paper ? "its noise was made" : "";
  }
  void open_data();
  void open_model();
  void choose_rounds();
  void open_protection();
  [[nodiscard]] std::unique_ptr<Protection> make_protection(ReleaseSettings settings) const;
  [[nodiscard]] SecondPart curvature_part() const;
  [[nodiscard]] TrustModel trust_model() const;
  [[nodiscard]] PaperTerms paper_terms() const;
  [[nodiscard]] double average_curvature() const;
  /// **Collective.**
  void make_protocol();
  void make_noisy_sum();
  [[nodiscard]] std::vector<Masker> agree_on_masks();
  void show_mask_keys();
  ExitCode play();
  [[nodiscard]] Summary make_summary(double wall, bool stopped);
  [[nodiscard]] TestMetrics test_figures() const;
  [[nodiscard]] std::vector<Interval> intervals() const;
  [[nodiscard]] std::vector<std::string> coefficient_names() const;
  void add_notes();

  RenewableConfig config_;
  std::unique_ptr<CurvedLoss> curved_;
  std::unique_ptr<CurvedModel> model_;
  std::optional<Released<Vector>> start_;
  std::unique_ptr<Codec> codec_;
  std::optional<RenewableClients> clients_;
  std::vector<MaskKey::Bytes> mask_keys_;  ///< of all clients, as this rank received them; empty without masks
  std::unique_ptr<NoisySum> sum_;
  std::unique_ptr<Renewable> protocol_;
};

}  // namespace starling
