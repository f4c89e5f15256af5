/// `starling vertical` in one run, before its rounds. Client 0 is the fusion centre or the dealer, client k is party k.
/// The run's model, for records and pictures, is the head. Each protocol has a folder of its own; ProtocolSetup is what
/// they have in common.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "methods/vertical/records/vertical_records.hpp"
#include "methods/vertical/setting/protocol_setup.hpp"
#include "methods/vertical/setting/vertical_config.hpp"
#include "methods/vertical/setting/vertical_setting.hpp"
#include "run/settings/configuration.hpp"
#include "run/stages/method.hpp"
#include "run/stages/run_context.hpp"

namespace starling {

struct SavedModel;

class VerticalMethod final : public Method {
 public:
  VerticalMethod(RunContext& run, RunHome& home, Configured<VerticalConfig>& configuration);

  [[nodiscard]] RunFacts privacy_facts() override;
  [[nodiscard]] std::string digest_of_inputs(const std::string& of_all_methods) const override {
    return records_.digest_of_inputs(of_all_methods);
  }
  [[nodiscard]] std::unique_ptr<Play> make(const BegunRun& begun) override;

 private:
  void place_parties();
  void refuse_shares_of_one();
  void open_model();
  [[nodiscard]] Client number_of_parties() const;
  [[nodiscard]] std::vector<std::string> more_files() const;
  [[nodiscard]] bool may_pool_records() const;

  // The start (vertical_start.cpp).
  void check_start();
  [[nodiscard]] SavedModel checked_start(const SavedModel& part, Client client);
  void agree_on_start();
  /// Whether the run starts from a saved model.
  [[nodiscard]] bool has_start() const { return config_.start != "uniform"; }
  /// The clients whose networks this rank has.
  [[nodiscard]] std::vector<Client> clients_of_networks() const;

  VerticalConfig& config_;
  VerticalSetting setting_{config_, run_.inputs};
  VerticalRecords records_{run_, setting_};
  std::unique_ptr<ProtocolSetup> protocol_;
  std::string run_of_start_;  ///< on a rank that has read a part of it
};

}  // namespace starling
