#include "vertical_config.hpp"

#include <algorithm>
#include <utility>

#include <fmt/ranges.h>

#include "codec/quantiser.hpp"
#include "core/check.hpp"
#include "core/text/per_client.hpp"
#include "core/text/spec.hpp"
#include "data/generators/synthetic.hpp"
#include "loss/target_loss.hpp"
#include "privacy/mechanism.hpp"
#include "run/settings/catalogue.hpp"

namespace starling {

namespace {

constexpr std::size_t default_batch = 20;

void check_baselines(const VerticalConfig& config) {
  const VerticalPlan& plan = config.plan;
  check(plan.labels == LabelHolders::all || plan.local_steps == 1,
        "--labels head with --local-steps {}: a second step would need new derivatives from rank 0. Use --local-steps "
        "1, or --labels all.",
        plan.local_steps);
  check(!plan.central || !config.privacy.protects(),
        "--baseline central with --mechanism {}: un-noised columns go to rank 0, which is what it shows. Use "
        "--mechanism none.",
        config.privacy.mechanism.value_or(""));
  check(!config.absences.absences() || (!plan.central && !config.static_regret),
        "--dropout with {}: it has the records of all parties in every round. Leave one of them out.",
        plan.central ? "--baseline central" : "--regret static");
}

/// Of a spectrum that says how many there are.
std::optional<Client> receivers_of(const std::string& source) {
  const Spec spec = Spec::parse(source.substr(source.find(':') + 1));
  if (!spec.find("receivers")) return std::nullopt;
  const long long receivers = spec.integer("receivers", 1);
  check(receivers >= 1 && receivers < most_clients, "'{}': {} receivers: at least one.", source, receivers);
  return static_cast<Client>(receivers);
}

/// Refuses noise without a privacy proof: docs/methods/vertical.md, "Privacy", covers Gaussian noise alone.
void check_mechanism(const VerticalConfig& config) {
  if (!config.privacy.protects()) return;
  check(config.privacy.mechanism_row().gaussian(),
        "--mechanism {}: several releases a round of the same records are composed for Gaussian noise. Use gaussian.",
        config.privacy.mechanism_row().name);
  check(is_whole(config.privacy.unit),
        "--unit component: a record enters embeddings and gradients whole. Leave it out.");
}

void check_persons(const VerticalConfig& config) {
  if (config.privacy.unit != PrivacyUnit::person) return;
  check(config.person_rows.has_value(),
        "--unit person without --person-rows: how many rows a person has in a round must not depend on the records. "
        "Give a number.");
  check(!config.plan.central, "--unit person with --baseline central, which bounds nobody's part. Leave one out.");
  check(!config.static_regret,
        "--unit person with --regret, which weighs records alike, not persons. Leave one of them out.");
  check(config.source.has_value() || !config.parties.empty(),
        "--unit person with a spectrum, which has no column of persons. Use files.");
}

/// Shares are of linear models.
void check_shares(const VerticalConfig& config) {
  if (!config.on_shares()) return;
  const std::string loss = Spec::parse(config.loss).name();
  check(loss == "logistic" || loss == "softmax" || loss == "squared" || loss == "mse" || loss == "huber",
        "--loss {} with --protocol shares: its slope is evaluated on shares for logistic, softmax, squared, mse and "
        "huber. Choose one of them, or --protocol embeddings.",
        config.loss);
  check(config.source.has_value() || !config.parties.empty(),
        "--protocol shares with a spectrum, which its rounds draw anew. Name the parties' files by --parties.");
  check(!config.is_spectrum() && !is_spectrum(config.source.value_or("file")),
        "--protocol shares with a spectrum, which its rounds draw anew. Name the parties' files by --parties.");
  check(!config.privacy.prices_differ(),
        "a price by clients with --protocol shares: one noise serves all parties. Give one price.");
  check(
      config.data.ignore.empty(),
      "--ignore with --protocol shares: only the party with the labels would leave the records out. Leave them out of "
      "all files.");
}

/// Resolves the automatic choice of the protocol. `options` are a copy, bound to `config`.
void choose_protocol(VerticalConfig& config, Options options) {
  if (config.protocol != VerticalProtocol::automatic) return;
  if (!config.privacy.protects()) return config.take_embeddings("");
  options.choose("protocol", "shares");
  try {
    options.check_relations();
    check_shares(config);
    config.chose_shares = true;
  } catch (const UsageError& refusal) {
    config.take_embeddings(refusal.what());
  }
}

/// Private matching is of files of parties, one of which has the labels.
void check_matching(const VerticalConfig& config) {
  check(config.match != MatchChoice::in_private || config.matches_in_private(),
        "--match private with one table: nobody else has its ids. Leave it out, or name a file of each party.");
  if (!config.matches_in_private()) return;
  const auto require_party = [&](const VerticalSettings& settings, const char* option) {
    const std::size_t parties = settings.files.empty() ? most_clients : settings.files.size();
    check(settings.label_source.empty() || settings.party_with_labels(parties),
          "{} '{}' with private matching: it is no party's file, and whoever reads it would see the ids. Put the "
          "labels into a party's file, or use --match open.",
          option, settings.label_source);
  };
  require_party(config.settings(), "--label-source");
  if (!config.held_out.empty()) require_party(config.held_out_settings(), "--test-label-source");
}

/// What would have no effect.
void check_needless_options(const VerticalConfig& config) {
  check(!config.batch || !config.parties.empty() || !is_spectrum(config.source.value_or("synthetic:spectrum")),
        "--batch with a spectrum: its rounds have train= records. Say synthetic:spectrum:train={}.",
        config.batch.value_or(0));
  check(
      !config.embedding_clip || config.privacy.protects(),
      "--embedding-clip without noise: embeddings are sent as they are. Leave it out, or choose --mechanism gaussian.");
  check(!config.privacy.clip || config.privacy.protects(),
        "--clip without noise: it is what noise is measured by. Leave it out, or choose --mechanism gaussian.");
  check(config.data.positive.empty() || !counts_classes(config.loss),
        "--positive with --loss {}: it makes labels -1 and 1, and the loss counts classes from 0. Leave it out, or use "
        "--loss logistic.",
        Spec::parse(config.loss).name());
  check(config.data.positive.empty() || config.loss != "mse",
        "--positive with --loss mse: labels would be the numbers -1 and 1, and no class would be foretold. Give --loss "
        "logistic, or squared for these numbers.");
  check(
      config.held_out.empty() || !config.parties.empty() || !is_spectrum(config.source.value_or("synthetic:spectrum")),
      "--test with a spectrum: its rounds have test records of their own. Leave --test out.");
  refuse_audit(config);
}

}  // namespace

bool VerticalConfig::is_spectrum() const {
  return parties.empty() && starling::is_spectrum(data.source);
}

bool VerticalConfig::matches_in_private() const {
  const bool by_id = !data.id.empty() && (!parties.empty() || is_per_client(data.source));
  return by_id && (match == MatchChoice::in_private || (match == MatchChoice::automatic && members.has_value()));
}

VerticalSettings VerticalConfig::settings() const {
  VerticalSettings settings;
  static_cast<DataSettings&>(settings) = data;
  settings.files = parties;
  settings.columns = columns;
  settings.label_source = label_source;
  settings.matched_in_private = matches_in_private();
  settings.shows_missing = on_shares() && has_own_units();
  return settings;
}

VerticalSettings VerticalConfig::held_out_settings() const {
  VerticalSettings settings = this->settings();
  settings.epochs = 1;
  settings.label_source = held_out_labels;
  settings.may_lack_drops = true;
  // Held-out records are predicted one by one, whoever they are of.
  if (!settings.person.empty()) settings.drop.push_back(std::exchange(settings.person, ""));
  const bool one_table = parties.empty() && !is_per_client(data.source);
  if (one_table || (held_out.size() == 1 && is_per_client(held_out.front()))) {
    settings.files.clear();
    settings.source = fmt::format("{}", fmt::join(held_out, ","));
  } else {
    settings.files = held_out;
  }
  check(one_table != is_per_client(settings.source) || !settings.files.empty(),
        "--test '{}': it must be {}, as --source is.", settings.source,
        one_table ? "one table" : "a file of each party");
  for (const std::string& file : held_out) {
    check(!is_synthetic(file), "--test '{}': a generator would draw the records of training again. Name a file.", file);
  }
  return settings;
}

std::optional<Client> VerticalConfig::parties_of_data() const {
  if (!parties.empty()) return static_cast<Client>(parties.size());
  if (is_spectrum()) return receivers_of(data.source);
  if (columns.empty()) return std::nullopt;
  return static_cast<Client>(1 + std::ranges::count_if(columns, [](char c) { return c == '/' || c == '|'; }));
}

void VerticalConfig::take_embeddings(const std::string& why) {
  protocol = VerticalProtocol::embeddings;
  why_embeddings = why;
}

void complete_vertical_config(VerticalConfig& config, const Options& options) {
  if (!options.given("loss")) config.loss = config.data.positive.empty() ? "mse" : "logistic";
  check_learning_options(config);
  choose_protocol(config, options);
  check_baselines(config);
  check_mechanism(config);
  check_persons(config);
  check_shares(config);
  check_needless_options(config);
  check_target_loss(config.loss);
  config.data.source = config.source.value_or("synthetic:spectrum");
  config.data.batch = config.batch.value_or(default_batch);
  check_matching(config);
  if (!config.held_out.empty()) static_cast<void>(config.held_out_settings());
  config.plan.embedding_clip = config.embedding_clip.value_or(1);
  config.plan.person_rows = config.person_rows.value_or(1);
  const char* own = config.precision == Precision::full ? "double" : "float32";
  if (config.quantiser.empty()) config.quantiser = own;
  if (config.head_quantiser.empty()) config.head_quantiser = own;
  if (config.head_quantiser.find_first_not_of("0123456789") == std::string::npos) {
    config.head_quantiser = "scalar:" + config.head_quantiser;
  }
  static_cast<void>(quantiser_table().make(config.quantiser));
  static_cast<void>(quantiser_table().make(config.head_quantiser));
  config.why_not.leaves_out = "what came through a pipe was read before the first round, and is gone";
  config.why_not.other_ranks = "ranks are parties, each with its own columns and networks";
  config.why_not.more_rounds = config.static_regret ? "regret is counted"
                               : config.on_shares() ? "the model is a mean over the second half of the rounds"
                                                    : "";
  std::vector<std::string> needless;
  if (config.on_shares()) {
    for (const Relation& each : relations_of_shares()) needless.push_back(each.other.substr(0, each.other.find('=')));
  }
  keep_configuration(options, config, {}, needless);
}

}  // namespace starling
