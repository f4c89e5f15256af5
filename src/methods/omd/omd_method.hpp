/// `starling omd` in one run, before its rounds.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "omd_config.hpp"
#include "omd_parts.hpp"
#include "run/settings/configuration.hpp"
#include "run/stages/method.hpp"

namespace starling {

class RunPairs;
struct PairClients;
struct RuleFacts;
struct StartModels;
struct TunedMethod;

class OmdMethod final : public Method {
 public:
  OmdMethod(RunContext& run, RunHome& home, Configured<OmdConfig>& configuration);

  [[nodiscard]] RunFacts privacy_facts() override;
  [[nodiscard]] std::string digest_of_inputs(const std::string& of_all_methods) const override;
  [[nodiscard]] std::unique_ptr<Play> make(const BegunRun& begun) override;

 private:
  void open_graph();
  void choose_family();
  void open_data();
  void choose_settings();
  void open_model();
  [[nodiscard]] StartModels read_start();
  void keep_start();
  [[nodiscard]] StartModels starts_of(Client first, Client count) const;
  void open_constraints();
  void check_constraints() const;
  void check_regret() const;
  void check_canaries(Round rounds) const;
  void agree_on_model();
  void choose_step_cap();
  void choose_pairs();
  [[nodiscard]] PairClients clients_of_pairs() const;
  void note_left_noise();
  [[nodiscard]] std::optional<double> hiding_of_pairs() const;
  void choose_closing_rounds();

  [[nodiscard]] TunedMethod tuned_method();
  [[nodiscard]] RuleFacts facts_of_rule(std::optional<std::int64_t> most_records, std::size_t parameters) const;
  void tune();
  void weigh_penalty();
  [[nodiscard]] double records_within_rounds();
  void check_before_release(Round releases);

  Configured<OmdConfig>& configuration_;
  OmdConfig& config_ = configuration_.values();
  OmdParts parts_{config_};
  double cap_at_first_ = 1;                ///< step cap with the clients that there were at first
  std::shared_ptr<const RunPairs> pairs_;  ///< under --trust pairs
  std::string note_on_closing_;            ///< of the clients that there are now
  double records_of_run_ = 0;              ///< of all clients in its rounds, where `--start-records` asks
  Vector all_records_;                     ///< N_k of all clients, once the rule asks
};

}  // namespace starling
