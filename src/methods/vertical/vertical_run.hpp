/// One run of `starling vertical`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/root/root.hpp"
#include "output/figures/vertical_record.hpp"
#include "run/inputs/rank_key.hpp"
#include "run/learning_run.hpp"
#include "vertical_config.hpp"

namespace starling {

/// One run of `starling vertical` on one rank. Client 0 is the fusion centre, client k is party k. The run's model, for
/// records and pictures, is the head.
class VerticalRun final : public LearningRun {
 public:
  VerticalRun(World& world, Configured<VerticalConfig>& configuration, RunStart start)
      : LearningRun(world, "vertical", configuration, std::move(start)), configuration_(configuration) {}

 private:
  [[nodiscard]] bool uses_records() const override { return true; }
  [[nodiscard]] Layout record_layout() const override { return {1, world_.size()}; }
  [[nodiscard]] std::vector<std::string> digests_of_sources() const override;
  [[nodiscard]] std::string digest_of_inputs() const override;

  /// Ranks without parties play rounds too.
  [[nodiscard]] bool plays(int) const override { return true; }

  void open_data() override;
  void agree_on_data() override;
  void open_model() override;
  [[nodiscard]] RunFacts privacy_facts() override;
  void build_protocol() override;
  [[nodiscard]] Recording recording() override;
  void add_observers(std::vector<Observer*>& observers, KeptParts& parts) override;
  void play_rounds(const std::vector<Observer*>& observers) override { protocol_->run(observers); }
  [[nodiscard]] RoundsEnd end_rounds() override { return RoundsEnd::in_step(protocol_->done(), config_.plan.rounds); }
  [[nodiscard]] const RoundView& view() const override { return *protocol_; }
  [[nodiscard]] TimeShares time_shares() const override { return protocol_->time_shares(); }
  [[nodiscard]] Released<Columns> final_models() override { return protocol_->models(); }
  [[nodiscard]] bool evaluates() const override { return config_.static_regret; }
  void summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) override;
  void complete_summary(Summary& summary) override;
  [[nodiscard]] OwnResults own_results(const Summary& summary) override;

  // Start and model (vertical_model.cpp).
  void check_start() override;
  [[nodiscard]] bool start_can_be_read_again() const override { return true; }
  void agree_on_model() override;
  /// Whether the run starts from a saved model.
  [[nodiscard]] bool has_start() const { return config_.start != "uniform"; }
  /// The clients whose networks this rank has.
  [[nodiscard]] std::vector<Client> clients_of_networks() const;
  [[nodiscard]] SavedModel checked_start(const SavedModel& part, Client client);
  /// Whether all may have the parties' networks.
  [[nodiscard]] bool shares_networks() const;
  /// Whether the run ends with a model that can be applied to new records.
  [[nodiscard]] bool keeps_model() const;
  [[nodiscard]] SavedModel part_of_run(Client client, View parameters) const;
  /// Writes model.h5, or the parts of this rank. **Collective.**
  void save_networks(const Summary& summary);

  [[nodiscard]] Client number_of_parties() const;
  [[nodiscard]] bool knows_labels() const;
  /// Parties of this rank: the number of the first, from 0, and their count.
  [[nodiscard]] std::size_t first_party() const;
  [[nodiscard]] std::size_t party_count() const;
  [[nodiscard]] VerticalDataset open_source();
  [[nodiscard]] VerticalDataset open_held_out();
  [[nodiscard]] std::vector<std::string> files_of_held_out() const;
  void compare_held_out();
  [[nodiscard]] std::vector<ServedRounds> served() const;
  /// **Collective.**
  void agree_on_labels();
  void check_drops() const;
  void check_ids();
  void note_names();
  /// **Collective.**
  void agree_on_held_out();
  /// Adds the metrics of the parties' predictions of --test. Returns their score. **Collective.**
  [[nodiscard]] Score score_held_out(Summary& summary);
  void make_architecture();
  [[nodiscard]] bool may_pool_records() const;
  void choose_rounds();
  void choose_bits();
  void note_cap();
  [[nodiscard]] std::unique_ptr<Protection> make_protection(const ReleaseSettings& settings) const;
  [[nodiscard]] VerticalWire wire() const;
  /// Writes the files of this rank's parties. **Collective.**
  void write_files_of_parties();
  /// Counts the bytes of test scores and of the search in hindsight. **Collective.**
  void count_evaluation(Summary& summary);
  /// Regret against the best fixed networks in hindsight. **Collective.**
  void add_regret(Summary& summary);
  [[nodiscard]] std::vector<Vector> blocks_of(View all) const;
  /// Adds scores and counted bits. Rank 0's.
  void add_figures(Summary& summary) const;

  Configured<VerticalConfig>& configuration_;
  VerticalConfig& config_ = configuration_.values();
  bool starts_from_parts_ = false;  ///< that are not in one file
  std::string run_of_start_;        ///< on a rank that has read a part of it
  std::unique_ptr<TargetLoss> loss_of_outputs_;
  VerticalDataset data_;
  std::optional<VerticalDataset> held_out_;  ///< of --test
  std::optional<RankKey> rank_key_;          ///< under which ranks compare digests of records
  VerticalArchitecture architecture_;
  std::vector<std::shared_ptr<const Quantiser>> by_bits_;  ///< of embeddings, where the number of bits changes
  std::vector<long long> bits_;                            ///< of each round, likewise
  std::shared_ptr<const Quantiser> quantiser_;
  std::optional<Root> root_;
  std::optional<Root> evaluation_;
  std::optional<Vertical> protocol_;
  std::optional<RoundsRecorder> rounds_;  ///< rank 0's
};

}  // namespace starling
