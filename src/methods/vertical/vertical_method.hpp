/// `starling vertical` in one run, before its rounds. Client 0 is the fusion centre, client k is party k. The run's
/// model, for records and pictures, is the head.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "private_matching.hpp"
#include "run/inputs/rank_key.hpp"
#include "run/stages/method.hpp"
#include "run/stages/run_home.hpp"
#include "shares_rule.hpp"
#include "vertical_config.hpp"

namespace starling {

/// Records, networks and quantisers of a run of vertical learning, once they are settled.
struct VerticalSetting {
  VerticalConfig& config;
  const RunInputs& inputs;
  std::unique_ptr<TargetLoss> loss = nullptr;
  VerticalDataset data = {};
  std::optional<VerticalDataset> held_out = {};  ///< of --test
  std::optional<RankKey> rank_key = {};          ///< under which ranks compare digests of records
  VerticalArchitecture architecture = {};
  std::vector<std::shared_ptr<const Quantiser>> by_bits = {};  ///< of embeddings, where the number of bits changes
  std::vector<long long> bits = {};                            ///< of each round, likewise
  std::optional<SharesRule> shares = {};                       ///< the rule of a run on shares
  std::shared_ptr<const Quantiser> quantiser = nullptr;
  bool starts_from_parts = false;  ///< that are not in one file

  /// Parties of this rank: the number of the first, from 0, and their count.
  [[nodiscard]] std::size_t first_party() const;
  [[nodiscard]] std::size_t party_count() const;
  /// The records, with labels where this rank knows them.
  [[nodiscard]] VerticalDataset open_source(bool first_rank) const;
  [[nodiscard]] bool knows_labels(bool first_rank) const;
  /// On shares: whether parties standardise their columns, which nothing else does.
  [[nodiscard]] bool standardises() const;
  /// On shares: the party with the labels, from 0. It is the first, unless --label-source is another's file.
  [[nodiscard]] std::size_t labels_at() const;
  /// Matched in private: the party with the labels of such records, from 0.
  [[nodiscard]] std::size_t labels_at(const VerticalSettings& settings) const;
  /// Puts records that were opened again into the order in which they were matched in private.
  void take_matched(VerticalDataset& again) const;
  [[nodiscard]] bool hosts(std::size_t party) const {
    return party >= first_party() && party < first_party() + party_count();
  }
};

class VerticalMethod final : public Method {
 public:
  VerticalMethod(RunContext& run, RunHome& home, Configured<VerticalConfig>& configuration);

  [[nodiscard]] RunFacts privacy_facts() override;
  [[nodiscard]] std::string digest_of_inputs(const std::string& of_all_methods) const override;
  [[nodiscard]] std::unique_ptr<Play> make(const BegunRun& begun) override;

 private:
  void place_parties();
  void refuse_shares_of_one();
  void open_data();
  void agree_on_data();
  void open_model();
  [[nodiscard]] std::vector<std::string> more_files() const;

  // The start (vertical_start.cpp).
  void check_start();
  [[nodiscard]] SavedModel checked_start(const SavedModel& part, Client client);
  void agree_on_start();
  /// Whether the run starts from a saved model.
  [[nodiscard]] bool has_start() const { return config_.start != "uniform"; }
  /// The clients whose networks this rank has.
  [[nodiscard]] std::vector<Client> clients_of_networks() const;

  [[nodiscard]] Client number_of_parties() const;
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
  void match_records();
  void match_held_out();
  void tell_of_own_rows();
  [[nodiscard]] MatchingPlace matching_place();
  void make_architecture();
  void make_linear_architecture();
  void choose_shares();
  [[nodiscard]] bool may_pool_records() const;
  void choose_rounds();
  void choose_bits();
  void note_cap();
  [[nodiscard]] std::unique_ptr<Protection> make_protection(const ReleaseSettings& settings) const;

  Configured<VerticalConfig>& configuration_;
  VerticalConfig& config_ = configuration_.values();
  VerticalSetting setting_{config_, run_.inputs};
  std::string run_of_start_;  ///< on a rank that has read a part of it
};

}  // namespace starling
