#include "vertical_method.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <unordered_set>

#include "core/digest.hpp"
#include "core/text/per_client.hpp"
#include "data/column_names.hpp"
#include "data/generators/synthetic.hpp"
#include "data/serving/known_records.hpp"
#include "data/source.hpp"
#include "model/network/gradient_sum.hpp"
#include "model_parts.hpp"
#include "party_records.hpp"
#include "privacy/without_noise.hpp"
#include "run/settings/source_options.hpp"

namespace starling {

namespace {

constexpr Round rounds_of_spectrum = 300;

/// The columns of the k-th hosted party, `width` of them, of all records of a table without ids.
Secret<Batch> rows_of_party(const VerticalDataset& data, std::size_t k, std::size_t width) {
  Secret<Batch> rows;
  data.stream->align({});
  for (Round t = 0;; ++t) {
    data.stream->load(t);
    if (data.stream->learning() == 0) return rows;
    rows.update(
        [width](Batch& all, const Vector& values) {
          for (std::size_t i = 0; i < values.size(); i += width) all.add({View(values).subspan(i, width), {}}, 0);
        },
        data.stream->inputs(k));
  }
}

}  // namespace

std::size_t VerticalSetting::first_party() const {
  return static_cast<std::size_t>(std::max<Client>(inputs.first_client() - 1, 0));
}

std::size_t VerticalSetting::party_count() const {
  return static_cast<std::size_t>(inputs.client_count()) -
         (inputs.client_count() > 0 && inputs.first_client() == 0 ? 1 : 0);
}

bool VerticalSetting::knows_labels(bool first_rank) const {
  if (config.matches_in_private()) return hosts(labels_at(config.settings()));
  if (!config.on_shares()) return first_rank || config.plan.labels == LabelHolders::all;
  return hosts(labels_at());
}

std::size_t VerticalSetting::labels_at(const VerticalSettings& settings) const {
  return settings.party_with_labels(static_cast<std::size_t>(inputs.layout->clients() - 1)).value_or(0);
}

bool VerticalSetting::standardises() const {
  const DataSettings& settings = config.data;
  const bool as_read = settings.scale == 1 && settings.features == ReadSettings::Features::raw &&
                       settings.missing == ReadSettings::Missing::refuse && !settings.makes_features();
  return as_read && !settings.scales_columns() && !data.is_public;
}

std::size_t VerticalSetting::labels_at() const {
  const auto found = std::find(config.parties.begin(), config.parties.end(), config.label_source);
  check(config.label_source.empty() || config.parties.empty() || found != config.parties.end(),
        "--label-source '{}' with --protocol shares: labels are one party's secret, so they must be in a file of "
        "--parties. Put them into the party's file.",
        config.label_source);
  return found == config.parties.end() ? 0 : static_cast<std::size_t>(found - config.parties.begin());
}

VerticalDataset VerticalSetting::open_source(bool first_rank) const {
  return open_vertical(config.settings(), static_cast<std::size_t>(inputs.layout->clients() - 1), first_party(),
                       party_count(), knows_labels(first_rank));
}

void VerticalSetting::take_matched(VerticalDataset& again) const {
  const std::size_t labels = labels_at(config.settings());
  const std::optional<std::size_t> labels_of = hosts(labels) ? std::optional(labels - first_party()) : std::nullopt;
  if (!data.matched_rows.empty()) static_cast<void>(again.stream->match(data.matched_rows, labels_of));
  again.stream->settle(data.shape);
  if (data.received_targets) again.stream->take_targets(*data.received_targets);
}

VerticalMethod::VerticalMethod(RunContext& run, RunHome& home, Configured<VerticalConfig>& configuration)
    : Method(run, home), configuration_(configuration) {
  all_ranks_play_ = true;
  recorded_ = Layout(1, run_.world.size());
  run_.agreement.together([&] { place_parties(); });
  run_.inputs.introduce();
  run_.agreement.together([&] { open_data(); });
  run_.reads_pipes = run_.agreement.any(declare_public(!setting_.data.replayable));
  agree_on_data();
  run_.settle_configuration();
  run_.agreement.together([&] {
    open_model();
    check_start();
  });
  agree_on_start();
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

void VerticalMethod::open_data() {
  if (!config_.is_spectrum()) {
    setting_.loss = make_target_loss(config_.loss, config_.head.outputs.value_or(default_outputs(config_.loss, 1)), 1);
    check_class_labels(config_.data, setting_.loss->classifies() && setting_.loss->outputs() == 1, config_.loss);
    config_.data.label_map = [this](double raw) { return setting_.loss->label(raw); };
    if (setting_.loss->classifies()) config_.data.labels_stay = "labels are classes";
  } else {
    check_class_labels(config_.data, false, config_.loss);
  }
  run_.inputs.more_files = more_files();
  config_.data.first_reading = run_.inputs.first_reading;
  setting_.data = setting_.open_source(run_.first_rank());
  run_.inputs.source_digests = run_.inputs.digests_of_sources();
  run_.inputs.dataset.is_public = setting_.data.is_public;
  run_.inputs.dataset.replayable = setting_.data.replayable;
  run_.inputs.dataset.digest = setting_.data.digest;
  run_.inputs.dataset.fingerprint = setting_.data.fingerprint;
  if (config_.held_out.empty()) return;
  setting_.held_out = open_held_out();
  if (!harms_nobody(config_.privacy, setting_.data.is_public)) run_.inputs.require_other_records(files_of_held_out());
  if (config_.privacy.protects()) {
    run_.notes.push_back(
        fmt::format("the records of --test count as public: the parties' {} of them go to rank 0 without noise",
                    config_.on_shares() ? "parts of the scores" : "embeddings"));
  }
}

VerticalDataset VerticalMethod::open_held_out() {
  const VerticalSettings settings = config_.held_out_settings();
  const bool knows_labels =
      settings.matched_in_private ? setting_.hosts(setting_.labels_at(settings)) : run_.first_rank();
  return open_vertical(settings, static_cast<std::size_t>(run_.inputs.layout->clients() - 1), setting_.first_party(),
                       setting_.party_count(), knows_labels);
}

/// The files of features that this rank's parties have held out.
std::vector<std::string> VerticalMethod::files_of_held_out() const {
  const VerticalSettings settings = config_.held_out_settings();
  if (settings.files.empty() && !is_per_client(settings.source)) return {files_of(settings.source).front()};
  std::vector<std::string> files;
  for (std::size_t k = setting_.first_party(); k < setting_.first_party() + setting_.party_count(); ++k) {
    files.push_back(settings.files.empty() ? name_of_client(settings.source, static_cast<Client>(k + 1))
                                           : settings.files[k]);
  }
  return files;
}

/// Covers the held-out records too, as far as rank 0 has read them.
std::string VerticalMethod::digest_of_inputs(const std::string& of_all_methods) const {
  if (!setting_.held_out) return of_all_methods;
  return sha256(of_all_methods +
                (setting_.held_out->common ? setting_.held_out->fingerprint : setting_.held_out->label_fingerprint));
}

void VerticalMethod::agree_on_data() {
  setting_.rank_key.emplace(run_.agreement, run_.inputs.introductions.get());
  if (setting_.data.common) {
    run_.agreement.same("content of " + config_.data.source,
                        declare_public(setting_.rank_key->digest("content", setting_.data.fingerprint)));
  }
  agree_on_labels();
  setting_.data.shape = joined_shape(run_.agreement, setting_.data);
  run_.agreement.together([&] {
    check_drops();
    check_ids();
  });
  note_names();
  match_records();
  if (config_.privacy.unit == PrivacyUnit::person) {
    group_records(run_.agreement, *setting_.rank_key, config_.plan.person_rows, setting_.data);
    const auto m = static_cast<std::int64_t>(setting_.data.batch);
    setting_.data.shape.rounds = (*setting_.data.shape.records + m - 1) / m * config_.data.epochs;
    run_.notes.emplace_back("persons count alike: each is in the objective by the mean over the person's records");
  }
  if (setting_.held_out) agree_on_held_out();
}

MatchingPlace VerticalMethod::matching_place() {
  return {run_.world,        run_.agreement,  *run_.inputs.layout, *setting_.rank_key, run_.inputs.introductions.get(),
          config_.data.seed, config_.progress};
}

/// Puts the records into the common order, which those of all parties have in common. **Collective.**
void VerticalMethod::match_records() {
  if (!config_.matches_in_private()) return align_records(run_.agreement, *setting_.rank_key, setting_.data);
  const std::size_t labels_at = setting_.labels_at(config_.settings());
  match_in_private(matching_place(), "training", labels_at, setting_.data);
  const bool to_all = config_.plan.labels == LabelHolders::all;
  const LabelRelease release = [to_all](const Secret<Vector>& labels, Released<Vector>& released) {
    to_all ? KnownLabels::publish(labels, 1, released) : HandedLabels::publish(labels, released);
  };
  hand_labels_over(matching_place(), labels_at,
                   config_.on_shares() ? LabelReceivers::nobody
                   : to_all            ? LabelReceivers::all_ranks
                                       : LabelReceivers::first_rank,
                   release, setting_.data);
  run_.notes.push_back(
      fmt::format("ids were matched in private: {} records are in all parties' files", *setting_.data.shape.records));
  tell_of_own_rows();
}

/// **Collective.**
void VerticalMethod::match_held_out() {
  if (!config_.matches_in_private()) return align_records(run_.agreement, *setting_.rank_key, *setting_.held_out);
  const std::size_t labels_at = setting_.labels_at(config_.held_out_settings());
  match_in_private(matching_place(), "test", labels_at, *setting_.held_out);
  hand_labels_over(matching_place(), labels_at, LabelReceivers::first_rank, &DeclaredPublic::publish,
                   *setting_.held_out);
}

/// Tells each party which of its own records are left out.
void VerticalMethod::tell_of_own_rows() {
  for (std::size_t k = 0; k < setting_.data.matched_rows.size(); ++k) {
    const std::size_t records = setting_.data.stream->ids(k).size();
    std::vector<bool> is_used(records, false);
    for (const std::size_t row : setting_.data.matched_rows[k]) is_used[row] = true;
    std::vector<std::size_t> others;
    for (std::size_t row = 0; row < records; ++row) {
      if (!is_used[row]) others.push_back(row);
    }
    run_.inputs.note_unmatched(static_cast<Client>(setting_.first_party() + k + 1), others, records);
  }
}

/// A spectrum's columns are named by the program: y is a place.
void VerticalMethod::note_names() {
  if (config_.is_spectrum()) return;
  for (const std::vector<std::string>& of_party : setting_.data.shape.names) {
    std::ranges::move(notes_on_names(of_party), std::back_inserter(run_.notes));
  }
}

/// The held-out records have the columns of those that are learned from.
void VerticalMethod::agree_on_held_out() {
  if (setting_.held_out->common)
    run_.agreement.same("content of --test", declare_public(setting_.held_out->fingerprint));
  setting_.held_out->shape = joined_shape(run_.agreement, *setting_.held_out);
  const VerticalShape& shape = setting_.held_out->shape;
  run_.agreement.together([&] {
    for (std::size_t k = 0; k < shape.columns.size(); ++k) {
      check<DataError>(shape.columns[k] == setting_.data.shape.columns[k],
                       "--test: party {} has {} columns, where it has {} to learn from. Give files with the same "
                       "columns.",
                       k + 1, shape.columns[k], setting_.data.shape.columns[k]);
      require_same_names(setting_.data.shape.names[k], shape.names[k], fmt::format("party {}", k + 1), "--test");
    }
  });
  match_held_out();
  if (!harms_nobody(config_.privacy, setting_.data.is_public)) run_.agreement.together([&] { compare_held_out(); });
}

/// Tells owners which records of --test are among those to learn from: by the ids, of which all ranks have digests,
/// else by each party's columns.
void VerticalMethod::compare_held_out() {
  if (!setting_.data.ids.empty()) {
    const std::unordered_set<std::uint64_t> own(setting_.data.ids.begin(), setting_.data.ids.end());
    std::vector<std::size_t> shared;
    for (std::size_t i = 0; i < setting_.held_out->ids.size(); ++i) {
      if (own.contains(setting_.held_out->ids[i])) shared.push_back(i);
    }
    return run_.inputs.note_shared(run_.inputs.first_client(), Secret(shared), setting_.held_out->ids.size());
  }
  for (std::size_t k = 0; k < setting_.party_count(); ++k) {
    const std::size_t width = setting_.data.shape.columns[setting_.first_party() + k];
    const Secret<Batch> known = rows_of_party(open_held_out(), k, width);
    const Secret<Batch> own = rows_of_party(setting_.open_source(run_.first_rank()), k, width);
    Secret<std::vector<std::size_t>> shared;
    shared.update(
        [](auto& numbers, const Batch& all, const Batch& of_party) { numbers = KnownRecords(all).found_in(of_party); },
        known, own);
    run_.inputs.note_shared(static_cast<Client>(setting_.first_party() + k + 1), shared,
                            static_cast<std::size_t>(setting_.held_out->shape.records.value_or(0)));
  }
}

/// Ranks that know the labels must know the same. Of labels that rank 0 alone knows nothing is said. **Collective.**
void VerticalMethod::agree_on_labels() {
  if (config_.plan.labels == LabelHolders::head || config_.on_shares() || config_.matches_in_private()) return;
  const std::string& own = setting_.data.label_fingerprint;
  const auto all =
      run_.agreement.all_gather(declare_public(own.empty() ? own : setting_.rank_key->digest("labels", own)));
  run_.agreement.together([&] {
    for (std::size_t r = 1; r < all.size(); ++r) {
      check<DataError>(all[r].empty() || all[r] == all[0],
                       "rank {} has read other labels than rank 0, or in another order: all must learn from the same. "
                       "Give all ranks the same label source.",
                       r);
    }
  });
}

/// A column that one party has is no business of another's, but somebody's file must have it.
void VerticalMethod::check_drops() const {
  for (std::size_t i = 0; i < setting_.data.shape.dropped.size(); ++i) {
    check(setting_.data.shape.dropped[i],
          "--drop: no party's file has a column '{}': nothing would be left out. Correct it.", config_.data.drop[i]);
  }
}

/// Numbers that identify records would be learned from, and records would go together by their place.
void VerticalMethod::check_ids() {
  if (!config_.data.id.empty() || setting_.data.common) return;
  run_.notes.emplace_back("no --id: records of the parties' files go together by their place");
  for (std::size_t k = 0; k < setting_.data.shape.names.size(); ++k) {
    for (const std::string& name : setting_.data.shape.names[k]) {
      check(name != "id" && name != "ID" && name != "Id",
            "party {} has a column '{}' and there is no --id: it would be a feature, and records would go together by "
            "their place. Add --id {}, or --drop {}.",
            k + 1, name, name, name);
    }
  }
}

void VerticalMethod::open_model() {
  check(!config_.static_regret || may_pool_records(),
        "--regret where records or metrics are private: networks would be fitted to everybody's records without noise. "
        "Leave it out.");
  if (config_.on_shares()) {
    make_linear_architecture();
  } else {
    make_architecture();
  }
  dimension_ = Network<float>(setting_.architecture.head).dimension();
  if (config_.on_shares()) return choose_shares();
  choose_rounds();
  choose_bits();
}

void VerticalMethod::make_architecture() {
  const std::vector<std::size_t>& columns = setting_.data.shape.columns;
  if (!setting_.loss) {
    const std::size_t targets = setting_.data.shape.targets;
    setting_.loss =
        make_target_loss(config_.loss, config_.head.outputs.value_or(default_outputs(config_.loss, targets)), targets);
  }
  check(config_.features.outputs.has_value(),
        "--feature-net that ends with d: the data say nothing of embeddings. Give their size, as in d-64-16.");
  for (std::size_t k = 0; k < columns.size(); ++k) {
    setting_.architecture.features.push_back(
        config_.features.architecture(columns[k], 1, fmt::format("--feature-net of party {}", k + 1)));
  }
  setting_.architecture.head =
      config_.head.architecture(columns.size() * *config_.features.outputs, setting_.loss->outputs(), "--head");
  setting_.architecture.precision = config_.precision;
  setting_.architecture.seed = config_.data.seed;
  setting_.architecture.optimiser = config_.optimiser;
}

/// The parties' scores, and their sum, as networks without hidden layers.
void VerticalMethod::make_linear_architecture() {
  const std::size_t outputs = setting_.loss->outputs();
  for (const std::size_t columns : setting_.data.shape.columns) {
    setting_.architecture.features.push_back(perceptron({columns, outputs}));
  }
  setting_.architecture.head = perceptron({setting_.data.shape.columns.size() * outputs, outputs});
  setting_.architecture.precision = config_.precision = Precision::full;
}

/// Rounds over all records, by the rule.
void VerticalMethod::choose_shares() {
  check<DataError>(setting_.data.shape.records.value_or(0) >= 1,
                   "--protocol shares needs tables of a known length: records are all in each round. Name files.");
  config_.data.batch = config_.plan.batch = static_cast<std::size_t>(*setting_.data.shape.records);
  config_.plan.rounds = config_.rounds.value_or(SharedSteps().rounds);
  std::vector<std::size_t> columns = setting_.data.shape.columns;
  ++columns[setting_.labels_at()];  // the intercept
  setting_.shares.emplace(*setting_.loss, std::move(columns), config_.plan.rows(), config_.data.batch,
                          setting_.labels_at(), config_.plan.rounds);
}

/// Whether un-noised records of all parties may go to rank 0 after the rounds: nothing that the run claims is lost.
bool VerticalMethod::may_pool_records() const {
  const bool secret = config_.privacy.protects() && config_.privacy.noise_key != "seed" && !setting_.data.is_public;
  return run_.metrics_policy().shared() && !secret;
}

void VerticalMethod::choose_rounds() {
  VerticalPlan& plan = config_.plan;
  const std::int64_t records = setting_.data.shape.records.value_or(std::numeric_limits<std::int64_t>::max());
  check(static_cast<std::int64_t>(setting_.data.batch) <= records,
        "--batch {} of {} records: no round would be full. Give at most {}.", setting_.data.batch, records, records);
  config_.data.batch = setting_.data.batch;
  plan.batch = setting_.data.batch;
  plan.keeps_predictions = setting_.loss->classifies() && setting_.loss->outputs() <= 2;
  plan.rounds =
      config_.is_spectrum() && !config_.rounds ? rounds_of_spectrum : run_.inputs.rounds_of(setting_.data.shape.rounds);
  check(!plan.lazy_after || *plan.lazy_after < plan.rounds,
        "--baseline lazy:{} of {} rounds: nobody would stop learning. Name an earlier round.",
        plan.lazy_after.value_or(0), plan.rounds);
}

void VerticalMethod::choose_bits() {
  setting_.quantiser = quantiser_table().make(config_.quantiser);
  if (config_.bits.text.empty()) return;
  check(setting_.quantiser->chooses_bits(),
        "--bits {} with --quantiser {}: a floating-point number has always as many bits. Choose scalar or hexagonal.",
        config_.bits.text, config_.quantiser);
  setting_.bits = config_.bits.values(config_.plan.rounds, setting_.quantiser->most_bits());
  note_cap();
  setting_.by_bits.resize(static_cast<std::size_t>(std::ranges::max(setting_.bits)) + 1);
  for (const long long b : setting_.bits) {
    auto& own = setting_.by_bits[static_cast<std::size_t>(b)];
    if (!own) own = setting_.quantiser->with_bits(b);
  }
}

/// From where on errors of quantisation fall no more.
void VerticalMethod::note_cap() {
  const std::optional<Round> capped = config_.bits.first_capped(setting_.quantiser->most_bits());
  if (!capped || *capped >= config_.plan.rounds) return;
  run_.notes.push_back(fmt::format(
      "--bits {}: from round {} on it asks for more than the {} bits that there are: errors of quantisation "
      "fall no more, and the paper's condition for sublinear regret does not hold",
      config_.bits.text, *capped + 1, setting_.quantiser->most_bits()));
}

/// 1 + E releases of a record in each round; on shares one.
std::unique_ptr<Protection> VerticalMethod::make_protection(const ReleaseSettings& settings) const {
  if (config_.on_shares()) return setting_.shares->protection(settings, config_.privacy.protects());
  auto mechanism = std::make_unique<MultipartMechanism>(config_.privacy.mechanism_row().name, settings,
                                                        static_cast<std::size_t>(1 + config_.plan.local_steps));
  const VerticalParts parts = add_vertical_parts(*mechanism, setting_.architecture, config_.plan);
  for (const std::size_t part : parts.gradients) {
    if (config_.precision == Precision::single) GradientSum<float>::check_clip(mechanism->clip(part));
  }
  return mechanism;
}

RunFacts VerticalMethod::privacy_facts() {
  RunFacts facts = common_facts(config_.plan.rounds);
  facts.trust = config_.privacy.protects() ? TrustModel::local : TrustModel::none;
  facts.vertical = VerticalTrust{config_.plan.labels == LabelHolders::all, run_.inputs.layout->clients() - 1,
                                 config_.plan.local_steps, config_.plan.central,
                                 static_cast<std::int64_t>(config_.plan.person_rows)};
  facts.vertical->matched_in_private = config_.matches_in_private();
  if (config_.on_shares()) {
    facts.vertical->labels_known_to_all = false;
    facts.vertical->on_shares = true;
    facts.dimension = setting_.shares->terms().shape.all_components();
  }
  facts.protection = [this](const ReleaseSettings& settings) { return make_protection(settings); };
  if (!config_.on_shares()) facts.price_factor = std::sqrt(static_cast<double>(1 + config_.plan.local_steps));
  facts.served = served();
  for (const long long bits : setting_.bits) facts.public_inputs += fmt::format(" {}", bits);
  return facts;
}

/// Rounds of each of this rank's clients. Labels that all know are nobody's secret: they are never paid for. A dealer
/// has no data.
std::vector<ServedRounds> VerticalMethod::served() const {
  std::vector<ServedRounds> served;
  const std::optional<std::int64_t> records = setting_.data.shape.records;
  const auto m = static_cast<std::int64_t>(config_.plan.batch);
  const std::optional<Round> of_pass = records ? std::optional<Round>((*records + m - 1) / m) : std::nullopt;
  served.reserve(static_cast<std::size_t>(run_.inputs.client_count()));
  for (Client u = run_.inputs.first_client(); u < run_.inputs.first_client() + run_.inputs.client_count(); ++u) {
    if (config_.on_shares()) {
      served.push_back(u > 0 ? ServedRounds{records, 1, config_.plan.rounds} : ServedRounds{0, 0, 0});
      continue;
    }
    const bool pays = u > 0 || config_.plan.labels == LabelHolders::head || config_.plan.central;
    served.push_back(pays ? ServedRounds{records, of_pass, setting_.data.shape.rounds} : ServedRounds{0, 0, 0});
  }
  return served;
}

}  // namespace starling
