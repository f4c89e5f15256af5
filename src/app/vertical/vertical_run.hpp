/// One run of `starling vertical`.
#pragma once

#include "app/run/learning_run.hpp"
#include "app/run/rank_key.hpp"
#include "vertical_config.hpp"
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "starling/net/root/root.hpp"
#include "starling/record/figures/vertical_record.hpp"

namespace starling {

/// One run of `starling vertical` on one rank, from configuration to results. Client 0 is the fusion centre, party k
/// client k; the run's model, for records and pictures, is the head.
class VerticalRun final : public LearningRun {
 public:
  VerticalRun(World& world, std::string command_line) : LearningRun(world, "vertical", std::move(command_line)) {}

  ExitCode run(const std::vector<std::string>& words) {
    configure([&] { config_ = parse_vertical_config(words); });
    if (is_finished()) return show_finished();
    agreement_.together([&] { open_data(); });
    agree_on_records();
    agreement_.together([&] { open_networks(); });
    open_protection();
    make_directory();
    return play();
  }

 private:
  [[nodiscard]] std::string why_no_round_is_left_out() const override {
    return "what came through a pipe was read before the first round, and is gone";
  }
  [[nodiscard]] const LearningConfig& common() const override { return config_; }
  [[nodiscard]] bool uses_records() const override { return true; }
  [[nodiscard]] Layout record_layout() const override { return {1, world_.size()}; }
  [[nodiscard]] std::vector<std::string> source_files() const override;

  /// Ranks without parties go along with the others' rounds.
  [[nodiscard]] bool plays(int) const override { return true; }
  [[nodiscard]] std::string why_no_more_rounds() const override {
    return config_.static_regret ? "regret is counted" : "";
  }
  [[nodiscard]] Client number_of_parties() const;
  [[nodiscard]] bool knows_labels() const;
  /// Of the parties that this rank hosts: the first, from 0, and how many.
  [[nodiscard]] std::size_t first_party() const;
  [[nodiscard]] std::size_t party_count() const;
  void open_data();
  [[nodiscard]] VerticalDataset open_source();
  [[nodiscard]] std::size_t default_outputs(std::size_t targets) const;
  [[nodiscard]] std::vector<ServedRounds> served() const;
  /// **Collective.**
  void agree_on_records();
  /// **Collective.**
  void agree_on_labels();
  void check_drops() const;
  void check_ids();
  void align(VerticalStream& stream);
  void open_networks();
  [[nodiscard]] bool may_pool_records() const;
  void choose_rounds();
  void choose_bits();
  void note_cap();
  /// **Collective.**
  void open_protection();
  [[nodiscard]] std::unique_ptr<Protection> make_protection(const ReleaseSettings& settings) const;
  [[nodiscard]] VerticalWire wire() const;
  ExitCode play();
  /// **Collective.**
  void open_vertical_records(const Vertical& protocol);
  /// Adds what the rounds came to. **Collective.**
  void gather(const Vertical& protocol, Summary& summary);
  /// **Collective.**
  void count_evaluation(Summary& summary);
  /// Against the best fixed networks in hindsight. **Collective.**
  void add_regret(const Vertical& protocol, Summary& summary);
  [[nodiscard]] std::vector<Vector> blocks_of(View all) const;
  [[nodiscard]] OwnResults scene_results(Round rounds) const;
  void name_own_metrics(Summary& summary) const;
  [[nodiscard]] VerticalFigures figures_of(const Vertical& protocol) const;

  VerticalConfig config_;
  std::unique_ptr<TargetLoss> loss_of_outputs_;
  VerticalDataset data_;
  std::optional<RankKey> rank_key_;  ///< under which ranks compare digests of records
  VerticalArchitecture architecture_;
  std::vector<std::shared_ptr<const Quantiser>> by_bits_;  ///< of embeddings, where the number of bits changes
  std::vector<long long> bits_;                            ///< of each round, likewise
  std::shared_ptr<const Quantiser> quantiser_;
  std::optional<Root> root_;
  std::optional<Root> evaluation_;
};

}  // namespace starling
