#include "run_context.hpp"

#include <algorithm>
#include <filesystem>

#include "core/digest.hpp"
#include "core/text/per_client.hpp"
#include "data/column_names.hpp"
#include "data/formats/first_reading.hpp"
#include "data/generators/synthetic.hpp"
#include "data/memory_records.hpp"
#include "data/source.hpp"
#include "output/model_file/saved_model.hpp"
#include "protocol/own_model/lone_rows.hpp"
#include "protocol/own_model/row_check.hpp"
#include "run/inputs/start_models.hpp"
#include "run/privacy/owners_release.hpp"
#include "run/resumption/resumption.hpp"
#include "run/settings/learning_config.hpp"

namespace starling {

namespace {

/// Records of hazards are intervals of persons, whose numbers `starling data convert` has written. **Collective.**
void agree_on_persons(Agreement& agreement, const LearningConfig& config, const std::vector<std::string>& features,
                      std::vector<std::string>& notes) {
  if (!config.loss.starts_with("hazard")) return;
  agreement.together([&] {
    check(std::ranges::find(features, "person") == features.end(),
          "--loss hazard with 'person' as a feature: it numbers persons, who have a record for each interval. Protect "
          "persons by --unit person --person person, or leave the column out by --drop person.");
  });
  if (config.privacy.protects() && config.privacy.unit == PrivacyUnit::record) {
    notes.emplace_back(
        "--loss hazard under --unit record: a person has a record for each interval, and one of them is protected. "
        "--unit person protects the person");
  }
}

}  // namespace

MetricsPolicy RunContext::metrics_policy() const {
  return metrics_policy_of(common().privacy, !common().learns() || inputs.dataset.is_public, &shared_figures);
}

SharedFigures RunContext::figures_of_all_ranks() {
  SharedFigures all;
  for (const std::string& of_rank : agreement.all_gather(declare_public(shared_figures.text()))) all.add(of_rank);
  return all;
}

TestScore RunContext::test_score_of(Model& model) const {
  if (!inputs.test) return {};
  return [this, &model](View x) { return model.score(x, *inputs.test).of_all(); };
}

void RunContext::settle_configuration() {
  effective = agreement.alike(declare_public(common().text)) ? common().text : common().as_given;
}

void RunContext::agree_on_records() {
  if (!common().learns()) return;
  reads_pipes = agreement.any(declare_public(!inputs.dataset.replayable));
  agreement.together([&] {
    check(
        !common().personal || !reads_pipes,
        "--personal on '{}': its records come once, and personal models read them again after the rounds. Use a file, "
        "or leave --personal out.",
        common().data.source);
  });
  inputs.agree_on_data();
  agree_on_persons(agreement, common(), inputs.dataset.shape.names, notes);
  const bool harmless = harms_nobody(common().privacy, inputs.dataset.is_public);
  agreement.together([&] { inputs.open_test(harmless); });
}

void RunContext::agree_on_own_model(const std::shared_ptr<OwnModel>& own) {
  own_model = own;
  if (own == nullptr) return;
  std::vector<std::pair<std::string, std::string>> facts;
  agreement.together([&] {
    const std::optional<double> slope = own->slope();
    facts = {{"dimension", fmt::format("{}", own->dimension(inputs.dataset.shape.features))},
             {"slope", slope ? fmt::format("{}", *slope) : ""},
             {"member `classifies`", own->classifies() ? "true" : "false"},
             {"function `predict`", own->predicts() ? "there" : ""},
             {"code", model_identity()}};
  });
  for (const auto& [what, value] : facts) {
    agreement.same(fmt::format("{} of the own model", what), declare_public(value));
  }
  agreement.together([&] {
    if (!common().privacy.protects()) return;
    require_independent_rows(own, inputs.dataset.shape.features, common().data.seed);
  });
}

void RunContext::protect_rows(std::shared_ptr<OwnModel>& own) {
  if (own == nullptr || !common().privacy.protects()) return;
  own = std::make_shared<LoneRows>(own, [this](const Secret<std::string>& line) { inputs.for_owner.tell(line); });
  notes.emplace_back(
      "--model: a record on which the own model fails counts as zero, and a line in private/<rank>/left-out.txt says "
      "so");
}

void RunContext::settle() {
  if (common().learns()) inputs.deal_records();
  settle_configuration();
  const DataSettings& data = common().data;
  if (data.missing != ReadSettings::Missing::zero || !data.keeps_units()) return;
  notes.emplace_back(
      "missing features are 0 in the units of their columns, where usual values may be far away: --standardise or "
      "--ranges makes them the mean, and --missing indicator tells them apart");
}

void RunContext::open_model(const std::function<void()>& make) {
  agreement.together([&] {
    make();
    check_start();
  });
}

/// The model must have learned from the same features.
void RunContext::check_start() {
  if (!is_model_file(common().start)) return;
  const SavedModel model = read_model(common().start);
  require_same_names(model.constants.feature_names(), inputs.dataset.shape.names, common().start, common().data.source);
  if (!inputs.dataset.constants || same_preparation(model.constants, *inputs.dataset.constants)) return;
  notes.push_back(
      fmt::format("--start {}: its records were prepared by other constants ({}, --scale), so that its "
                  "parameters mean something else here. Give these options as config.ini of its run has them",
                  common().start, constants_option_names()));
}

void RunContext::agree_on_own_start(const Model* model) {
  if (own_model == nullptr) return;
  std::string digest;
  agreement.together([&] { digest = own_start_digest(*model, common().data.seed); });
  agreement.same("start of the own model", declare_public(digest));
}

Round RunContext::first_rounds(Round now) const {
  if (resumption == nullptr) return now;
  return resumption->first_rounds(common(), now, inputs.dataset.shape.rounds.value_or(rounds_of_endless_streams));
}

std::string RunContext::why_not_resumable() const {
  const WhyNot& why_not = common().why_not;
  if (!why_not.goes_on.empty()) return why_not.goes_on;
  if (common().learns() && !inputs.dataset.replayable && !why_not.leaves_out.empty()) return why_not.leaves_out;
  if (!model_can_be_told()) return "nobody can tell whether its own model is still the same (it has no identity)";
  return start_comes_again() ? "" : "its start models come through a pipe, and are gone";
}

void RunContext::require_resumable() const {
  const std::string why_not = why_not_resumable();
  if (why_not.empty()) return;
  check(resumption == nullptr,
        "--resume: {}, so that nothing would be the same. Start a run of its own, from these models: --start.",
        why_not);
  check(!common().checkpoint.any(), "--checkpoint-every: {}, so that nobody could go on from one. Leave it out.",
        why_not);
}

bool RunContext::start_comes_again() const {
  namespace fs = std::filesystem;
  return is_start_word(common().start) || !fs::is_other(common().start);
}

bool RunContext::model_can_be_told() const {
  return own_model == nullptr || !own_model->identity().empty();
}

std::string RunContext::digest_of_start() const {
  return std::filesystem::is_regular_file(common().start) ? " " + sha256_of_file(common().start) : "";
}

/// Empty for a model of starling.
std::string RunContext::model_identity() const {
  return own_model == nullptr ? "" : " " + own_model->identity();
}

std::string RunContext::digest_of_models() const {
  return digest_of_start() + model_identity();
}

std::string RunContext::digest_of_inputs(std::size_t dimension) const {
  std::string digests = digest_of_start();
  if (!common().learns()) digests += configuration_that_matters(effective);
  if (reads_pipes) digests += fmt::format(" {} parameters", dimension);
  digests += model_identity();
  if (is_per_client(common().data.source)) {  // the order of one file is in its digest
    for (const std::string& column : common().data.columns) digests += "\n" + column;
  }
  if (common().test && is_in_memory(*common().test)) {
    digests += " " + digest_of_memory(*common().test);
  } else if (common().test && !is_synthetic(*common().test)) {
    for (const std::string& file : files_of(*common().test)) {
      if (std::filesystem::is_regular_file(file)) digests += " " + inputs.first_reading->digest(file);
    }
  }
  return sha256(digests);
}

}  // namespace starling
