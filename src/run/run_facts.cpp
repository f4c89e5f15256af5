// What a run knows of its inputs: whether it can go on with them, their digests, and the facts of its privacy.
#include <algorithm>
#include <filesystem>

#include "core/digest.hpp"
#include "data/column_names.hpp"
#include "data/generators/synthetic.hpp"
#include "data/memory_records.hpp"
#include "data/source.hpp"
#include "learning_run.hpp"
#include "protocol/own_model/lone_rows.hpp"
#include "run/inputs/start_models.hpp"

namespace starling {

void LearningRun::protect_rows(std::shared_ptr<OwnModel>& own) {
  if (own == nullptr || !common().privacy.protects()) return;
  own = std::make_shared<LoneRows>(own, [this](const Secret<std::string>& line) { inputs_.tell_owner(line); });
  notes_.emplace_back(
      "--model: a record on which the own model fails counts as zero, and a line in private/<rank>/left-out.txt says "
      "so");
}

Round LearningRun::first_rounds(Round now) const {
  if (!resumption_) return now;
  return resumption_->first_rounds(common(), now, inputs_.dataset.shape.rounds.value_or(rounds_of_endless_streams));
}

std::string LearningRun::why_not_resumable() const {
  const WhyNot& why_not = common().why_not;
  if (!why_not.goes_on.empty()) return why_not.goes_on;
  if (uses_records() && !inputs_.dataset.replayable && !why_not.leaves_out.empty()) return why_not.leaves_out;
  if (!model_can_be_told()) return "nobody can tell whether its own model is still the same (it has no identity)";
  return start_can_be_read_again() ? "" : "its start models come through a pipe, and are gone";
}

void LearningRun::require_resumable() const {
  const std::string why_not = why_not_resumable();
  if (why_not.empty()) return;
  check(!resumption_,
        "--resume: {}, so that nothing would be the same. Start a run of its own, from these models: --start.",
        why_not);
  check(!common().checkpoint.any(), "--checkpoint-every: {}, so that nobody could go on from one. Leave it out.",
        why_not);
}

void LearningRun::require_same_inputs() const {
  check(directory_->identity().inputs == digest_of_inputs(),
        "--resume '{}': the topology, the start models, the records of --test{} are not those that the run began with, "
        "so "
        "that it would be another. Put them back, or start a run of its own.",
        directory_->path(),
        *reads_pipes_    ? " or the columns of records (from pipes)"
        : uses_records() ? ""
                         : " or the configuration");
}

bool LearningRun::start_can_be_read_again() const {
  const std::string& start = common().start;
  return start == "uniform" || start == "zero" || start == "safe" || std::filesystem::is_regular_file(start);
}

/// The model must have learned from the same features.
void LearningRun::check_start() {
  if (!is_model_file(common().start)) return;
  const SavedModel model = read_model(common().start);
  require_same_names(model.constants.feature_names(), inputs_.dataset.shape.names, common().start,
                     common().data.source);
  if (!inputs_.dataset.constants || same_preparation(model.constants, *inputs_.dataset.constants)) return;
  notes_.push_back(
      fmt::format("--start {}: its records were prepared by other constants ({}, --scale), so that its "
                  "parameters mean something else here",
                  common().start, constants_option_names()));
}

std::string LearningRun::digest_of_start() const {
  return std::filesystem::is_regular_file(common().start) ? " " + sha256_of_file(common().start) : "";
}

/// Empty for a model of starling.
std::string LearningRun::model_identity() const {
  return own_model() == nullptr ? "" : " " + own_model()->identity();
}

/// Whether another process can see that it has the same model.
bool LearningRun::model_can_be_told() const {
  return own_model() == nullptr || !own_model()->identity().empty();
}

/// Covers public inputs beside records and build, and the code of an own model. Runs without records have no ledger, so
/// that their configuration counts here.
std::string LearningRun::digest_of_inputs() const {
  std::string inputs = digest_of_start();
  if (!uses_records()) inputs += configuration_that_matters(effective_);
  if (*reads_pipes_) inputs += fmt::format(" {} parameters", dimension_);
  inputs += model_identity();
  if (common().test && is_in_memory(*common().test)) {
    inputs += " " + digest_of_memory(*common().test);
  } else if (common().test && !is_synthetic(*common().test)) {
    for (const std::string& file : files_of(*common().test)) {
      if (std::filesystem::is_regular_file(file)) inputs += " " + sha256_of_file(file);
    }
  }
  return sha256(inputs);
}

void LearningRun::correlate_noise(bool wanted, Round releases) {
  if (resumption_) {
    const std::string kept = directory_->identity().correlation;
    agreement_.together([&] {
      if (!kept.empty()) correlation_ = NoiseCorrelation::parse(kept);
    });
    return;
  }
  if (!wanted) return;
  const DataSettings& data = common().data;
  check(data.person_rounds.value_or(1) == 1,
        "--noise-correlation blt:2 with --person-rounds {}: what several uses at any distance cost is known of "
        "independent "
        "noise. Use --noise-correlation none.",
        data.person_rounds.value_or(1));
  constexpr Round never = std::numeric_limits<Round>::max();
  Round shortest = never;
  for (const auto& stream : inputs_.dataset.streams) {
    if (const Round pass = stream->rounds_of_pass().value_or(0); pass > 0) shortest = std::min(shortest, pass);
  }
  shortest = agreement_.min(declare_public(shortest));
  const bool passes = shortest != never && data.epochs > 1;
  std::string text;
  agreement_.together(
      [&] { text = (passes ? best_correlation(shortest, data.epochs) : best_correlation(releases, 1)).text(); });
  correlation_ = NoiseCorrelation::parse(agreement_.broadcast(declare_public(text)));
}

RunFacts LearningRun::common_facts(Round rounds) const {
  RunFacts facts;
  facts.batch = common().data.batch;
  facts.dimension = dimension_;
  facts.rounds = rounds;
  facts.seed = common().data.seed;
  facts.public_data = inputs_.dataset.is_public;
  facts.replayable = inputs_.dataset.replayable && start_can_be_read_again() && model_can_be_told();
  facts.correlation = correlation_;
  facts.configuration = effective_;
  facts.rounds_matter = !common().why_not.more_rounds.empty();
  facts.public_inputs = digest_of_start() + model_identity();
  for (const std::string& constants : constants_files(common().data)) {
    if (!is_per_client(constants)) facts.public_inputs += " " + sha256_of_file(constants);
  }
  facts.data = inputs_.digests_of_data();
  check<DataError>(
      !common().privacy.ledger || inputs_.source_digests == digests_of_sources(),
      "{}: it has changed while it was read, so that the ledger could not say what was released. Start again.",
      common().data.source);
  check(!common().privacy.persons_shared || !inputs_.dataset.common,
        "--persons-shared with '{}': this file is dealt out by persons, so each has one client. Leave it out.",
        common().data.source);
  facts.persons_in_slots = common().privacy.unit == PrivacyUnit::person && reads_pipes_.value_or(false);
  facts.clients_changed = inputs_.members.has_changed();
  facts.served = inputs_.served();
  return facts;
}

}  // namespace starling
