// What `starling vertical --protocol shares` settles before its rounds.
#include "methods/vertical/setting/protocol_setup.hpp"
#include "methods/vertical/setting/vertical_config.hpp"
#include "methods/vertical/setting/vertical_setting.hpp"
#include "model/network/network.hpp"
#include "protocol/vertical/shared_learning.hpp"
#include "run/privacy/run_facts.hpp"
#include "run/stages/play.hpp"
#include "shares_play.hpp"
#include "shares_rule.hpp"

namespace starling {

namespace {

class SharesSetup final : public ProtocolSetup {
 public:
  SharesSetup(RunContext& run, VerticalSetting& setting) : run_(run), setting_(setting), config_(setting.config) {}

  void settle() override;
  [[nodiscard]] std::unique_ptr<Protection> protection(const ReleaseSettings& settings) const override {
    return rule_->protection(settings, config_.privacy.protects());
  }
  void complete(RunFacts& facts) const override;
  /// A dealer has no data.
  [[nodiscard]] ServedRounds served(Client u) const override {
    return u > 0 ? ServedRounds{setting_.data.shape.records, 1, config_.plan.rounds} : ServedRounds{0, 0, 0};
  }
  [[nodiscard]] std::unique_ptr<Play> make(const BegunRun& begun, const Method& method) override {
    return make_shares_play(begun, method, setting_, *rule_);
  }

 private:
  void make_linear_architecture();
  void choose_shares();

  RunContext& run_;
  VerticalSetting& setting_;
  VerticalConfig& config_;
  std::optional<SharesRule> rule_;
};

void SharesSetup::settle() {
  make_linear_architecture();
  choose_shares();
}

/// The parties' scores, and their sum, as networks without hidden layers.
void SharesSetup::make_linear_architecture() {
  const std::size_t outputs = setting_.loss->outputs();
  for (const std::size_t columns : setting_.data.shape.columns) {
    setting_.architecture.features.push_back(perceptron({columns, outputs}));
  }
  setting_.architecture.head = perceptron({setting_.data.shape.columns.size() * outputs, outputs});
  setting_.architecture.precision = config_.precision = Precision::full;
}

/// Rounds over all records, by the rule.
void SharesSetup::choose_shares() {
  check<DataError>(setting_.data.shape.records.value_or(0) >= 1,
                   "--protocol shares needs tables of a known length: records are all in each round. Name files.");
  config_.data.batch = config_.plan.batch = static_cast<std::size_t>(*setting_.data.shape.records);
  config_.plan.rounds = config_.rounds.value_or(SharedSteps().rounds);
  std::vector<std::size_t> columns = setting_.data.shape.columns;
  ++columns[setting_.labels_at()];  // the intercept
  rule_.emplace(*setting_.loss, std::move(columns), config_.plan.rows(), config_.data.batch, setting_.labels_at(),
                config_.plan.rounds);
}

void SharesSetup::complete(RunFacts& facts) const {
  facts.vertical->labels_known_to_all = false;
  facts.vertical->on_shares = true;
  facts.dimension = rule_->terms().shape.all_components();
}

}  // namespace

std::unique_ptr<ProtocolSetup> shares_setup(RunContext& run, VerticalSetting& setting) {
  return std::make_unique<SharesSetup>(run, setting);
}

}  // namespace starling
