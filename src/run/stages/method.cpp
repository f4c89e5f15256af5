#include "method.hpp"

#include <algorithm>
#include <limits>

#include "core/digest.hpp"
#include "core/text/per_client.hpp"
#include "data/formats/first_reading.hpp"
#include "output/model_file/saved_model.hpp"
#include "play.hpp"
#include "run/inputs/inputs.hpp"
#include "run/privacy/run_facts.hpp"
#include "run/resumption/resumption.hpp"
#include "run/tuning/releases/tuned_method.hpp"
#include "run_context.hpp"
#include "run_home.hpp"

namespace starling {

std::optional<SavedModel> Play::saved_model() const {
  return std::nullopt;
}

bool Method::plays(int rank) const {
  return all_ranks_play_ || run_.inputs.layout->count(rank) > 0;
}

const Layout& Method::record_layout() const {
  return recorded_ ? *recorded_ : *run_.inputs.layout;
}

TuningTerms Method::tuning_terms(const Loss* loss, std::shared_ptr<const RunPairs> pairs) {
  return {run_.agreement,
          run_.inputs,
          loss,
          run_.notes,
          run_.metrics_policy(),
          pairs,
          [this, pairs] {
            RunFacts facts = common_facts(1);
            facts.pairs = pairs;
            facts.introductions = run_.inputs.introductions;
            return facts;
          },
          [this] { return home_.private_folder_before_rounds(); },
          [this] { home_.begin_early_release(); }};
}

void Method::correlate_noise(bool wanted, Round releases) {
  if (run_.resumption != nullptr) {
    const std::string kept = home_.directory().identity().correlation;
    run_.agreement.together([&] {
      if (!kept.empty()) correlation_ = NoiseCorrelation::parse(kept);
    });
    return;
  }
  if (!wanted) return;
  const DataSettings& data = run_.common().data;
  check(data.person_rounds.value_or(1) == 1,
        "--noise-correlation blt:2 with --person-rounds {}: what several uses at any distance cost is known of "
        "independent noise. Use --noise-correlation none.",
        data.person_rounds.value_or(1));
  constexpr Round never = std::numeric_limits<Round>::max();
  Round shortest = never;
  for (const auto& stream : run_.inputs.dataset.streams) {
    if (const Round pass = stream->rounds_of_pass().value_or(0); pass > 0) shortest = std::min(shortest, pass);
  }
  shortest = run_.agreement.min(declare_public(shortest));
  const bool passes = shortest != never && data.epochs > 1;
  std::string text;
  run_.agreement.together(
      [&] { text = (passes ? best_correlation(shortest, data.epochs) : best_correlation(releases, 1)).text(); });
  correlation_ = NoiseCorrelation::parse(run_.agreement.broadcast(declare_public(text)));
}

RunFacts Method::common_facts(Round rounds) const {
  const LearningConfig& config = run_.common();
  const RunInputs& inputs = run_.inputs;
  RunFacts facts;
  facts.batch = config.data.batch;
  facts.dimension = dimension_;
  facts.rounds = rounds;
  facts.seed = config.data.seed;
  facts.public_data = inputs.dataset.is_public;
  facts.replayable = inputs.dataset.replayable && run_.begins_again_alike();
  facts.correlation = correlation_;
  facts.configuration = run_.effective;
  facts.rounds_matter = !config.why_not.more_rounds.empty();
  facts.public_inputs = run_.digest_of_models();
  for (const std::string& constants : constants_files(config.data)) {
    if (!is_per_client(constants)) facts.public_inputs += " " + sha256_of_file(constants);
  }
  facts.data = inputs.digests_of_data();
  check<DataError>(
      !config.privacy.ledger || inputs.first_reading->files_stayed(),
      "{}: it has changed while it was read, so that the ledger could not say what was released. Start again.",
      config.data.source);
  check(!config.privacy.persons_shared || !inputs.dataset.common,
        "--persons-shared with '{}': this file is dealt out by persons, so each has one client. Leave it out.",
        config.data.source);
  facts.persons_in_slots = config.privacy.unit == PrivacyUnit::person && run_.reads_pipes;
  facts.clients_changed = inputs.members.has_changed();
  facts.served = inputs.served();
  return facts;
}

}  // namespace starling
