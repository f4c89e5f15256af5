#include "vertical_method.hpp"

#include "methods/methods.hpp"
#include "methods/vertical/setting/model_parts.hpp"
#include "privacy/mechanism.hpp"
#include "run/life_cycle.hpp"
#include "run/privacy/run_facts.hpp"
#include "run/stages/play.hpp"

namespace starling {

VerticalMethod::VerticalMethod(RunContext& run, RunHome& home, Configured<VerticalConfig>& configuration)
    : Method(run, home), config_(configuration.values()) {
  all_ranks_play_ = true;
  recorded_ = Layout(1, run_.world.size());
  run_.agreement.together([&] { place_parties(); });
  run_.inputs.introduce();
  run_.agreement.together([&] {
    run_.inputs.more_files = more_files();
    records_.open();
  });
  run_.reads_pipes = run_.agreement.any(declare_public(!setting_.data.replayable));
  records_.agree();
  run_.settle_configuration();
  protocol_ = config_.on_shares() ? shares_setup(run_, setting_) : embeddings_setup(run_, setting_);
  run_.agreement.together([&] {
    open_model();
    check_start();
  });
  agree_on_start();
}

std::unique_ptr<Play> VerticalMethod::make(const BegunRun& begun) {
  return protocol_->make(begun, *this);
}

/// The parties of the data, those asked for, or one for each rank beside rank 0.
Client VerticalMethod::number_of_parties() const {
  const std::optional<Client> there = config_.parties_of_data();
  check(!there || !config_.clients || *there == *config_.clients,
        "--clients {} and columns of {} parties: they must agree. Leave --clients out or correct it.",
        config_.clients.value_or(0), there.value_or(0));
  const Client others = run_.world.size() - 1;
  const Client parties = there.value_or(config_.clients.value_or(others));
  check(parties >= 1,
        "one rank and no parties: rank 0 has no columns. Start at least 2 ranks, as with mpirun -n 5, or add --clients "
        "for parties that share this one.");
  check(config_.clients || parties <= others,
        "{} parties on {} rank(s) beside rank 0: a rank would host several, which must be asked for. Start {} ranks, "
        "or add --clients {}.",
        parties, others, parties + 1, parties);
  return parties;
}

/// The files of this rank's parties, that of the labels, and those of the start, of which each rank may read other
/// parts.
std::vector<std::string> VerticalMethod::more_files() const {
  std::vector<std::string> files;
  const bool labels = setting_.knows_labels(run_.first_rank());
  if (!config_.parties.empty()) {
    for (std::size_t k = 0; k < setting_.party_count(); ++k) {
      files.push_back(config_.parties[setting_.first_party() + k]);
    }
    if (labels && config_.label_source.empty()) files.push_back(config_.parties.front());
  }
  if (labels && !config_.label_source.empty()) files.push_back(config_.label_source);
  if (!has_start()) return files;
  const ModelParts parts(config_.start);
  for (const Client client : clients_of_networks()) files.push_back(parts.file_of(client));
  return files;
}

void VerticalMethod::place_parties() {
  require_protection(config_.privacy);
  run_.inputs.layout = Layout::with_centre(number_of_parties(), run_.world.size());
  if (run_.world.size() > run_.inputs.layout->clients()) {
    run_.notes.push_back(
        fmt::format("{} rank(s) host no party and stay idle", run_.world.size() - run_.inputs.layout->clients()));
  }
  if (run_.world.size() == 1) {
    run_.notes.push_back(
        fmt::format("one rank is {} and all parties: a simulation", config_.on_shares() ? "dealer" : "fusion centre"));
  }
  if (run_.inputs.layout->clients() == 2) refuse_shares_of_one();
  if (config_.why_embeddings.empty()) return;
  run_.notes.push_back(fmt::format("embeddings, which hide each record alone, since shares cannot do what is asked: {}",
                                   config_.why_embeddings));
}

void VerticalMethod::refuse_shares_of_one() {
  if (!config_.on_shares()) return;
  const char* const why =
      "--protocol shares with one party: there is nobody to share with. Use `starling omd` for one table.";
  check(config_.chose_shares, "{}", why);
  config_.take_embeddings(why);
}

void VerticalMethod::open_model() {
  check(!config_.static_regret || may_pool_records(),
        "--regret where records or metrics are private: networks would be fitted to everybody's records without noise. "
        "Leave it out.");
  protocol_->settle();
  dimension_ = Network<float>(setting_.architecture.head).dimension();
}

/// Whether un-noised records of all parties may go to rank 0 after the rounds: nothing that the run claims is lost.
bool VerticalMethod::may_pool_records() const {
  const bool secret = config_.privacy.protects() && config_.privacy.noise_key != "seed" && !setting_.data.is_public;
  return run_.metrics_policy().shared() && !secret;
}

RunFacts VerticalMethod::privacy_facts() {
  RunFacts facts = common_facts(config_.plan.rounds);
  facts.trust = config_.privacy.protects() ? TrustModel::local : TrustModel::none;
  facts.vertical = VerticalFacts{config_.plan.labels == LabelHolders::all, run_.inputs.layout->clients() - 1,
                                 config_.plan.local_steps, config_.plan.central,
                                 static_cast<std::int64_t>(config_.plan.person_rows)};
  facts.vertical->matched_in_private = config_.matches_in_private();
  facts.protection = [this](const ReleaseSettings& settings) { return protocol_->protection(settings); };
  for (Client k = 0; k < run_.inputs.client_count(); ++k) {
    facts.served.push_back(protocol_->served(run_.inputs.first_client() + k));
  }
  protocol_->complete(facts);
  return facts;
}

Command vertical_command() {
  return learning_command<VerticalMethod, VerticalConfig, vertical_options, complete_vertical_config>(
      "vertical", "online vertical federated learning: parties have columns, rank 0 the head", vertical_manual);
}

}  // namespace starling
