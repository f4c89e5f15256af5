// The data, networks and privacy of `starling vertical`.
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
#include "run/settings/source_options.hpp"
#include "vertical_run.hpp"

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

/// The parties of the data, those asked for, or one for each rank beside rank 0.
Client VerticalRun::number_of_parties() const {
  const std::optional<Client> there = config_.parties_of_data();
  check(!there || !config_.clients || *there == *config_.clients,
        "--clients {} and columns of {} parties (they must agree) leave --clients out or correct it",
        config_.clients.value_or(0), there.value_or(0));
  const Client others = world_.size() - 1;
  const Client parties = there.value_or(config_.clients.value_or(others));
  check(parties >= 1,
        "one rank and no parties (rank 0 has no columns) start at least 2 ranks, as with mpirun -n 5, or "
        "add --clients for parties that share this one");
  check(
      config_.clients || parties <= others,
      "{} parties on {} rank(s) beside rank 0 (a rank would host several, which must be asked for) start {} ranks, or "
      "add --clients {}",
      parties, others, parties + 1, parties);
  return parties;
}

bool VerticalRun::knows_labels() const {
  return first_rank() || config_.plan.labels == LabelHolders::all;
}

std::size_t VerticalRun::first_party() const {
  return static_cast<std::size_t>(std::max<Client>(inputs_.first_client() - 1, 0));
}

std::size_t VerticalRun::party_count() const {
  return static_cast<std::size_t>(inputs_.client_count()) -
         (inputs_.client_count() > 0 && inputs_.first_client() == 0 ? 1 : 0);
}

/// Covers the files of this rank's parties, that of the labels, and the start, of which each rank may read another
/// part.
std::vector<std::string> VerticalRun::digests_of_sources() const {
  std::vector<std::string> digests = LearningRun::digests_of_sources();
  std::vector<std::string> files;
  if (!config_.parties.empty()) {
    for (std::size_t k = 0; k < party_count(); ++k) files.push_back(config_.parties[first_party() + k]);
    if (knows_labels() && config_.label_source.empty()) files.push_back(config_.parties.front());
  }
  if (knows_labels() && !config_.label_source.empty()) files.push_back(config_.label_source);
  for (const std::string& file : files) {
    if (std::filesystem::is_regular_file(file)) digests.push_back(sha256_of_file(file) + " ");
  }
  if (!has_start()) return digests;
  const ModelParts parts(config_.start);
  for (const Client client : clients_of_networks()) digests.push_back(sha256_of_file(parts.file_of(client)) + " ");
  return digests;
}

void VerticalRun::open_data() {
  require_protection(config_.privacy);
  inputs_.layout = Layout::with_centre(number_of_parties(), world_.size());
  if (world_.size() > inputs_.layout->clients()) {
    notes_.push_back(fmt::format("{} rank(s) host no party and stay idle", world_.size() - inputs_.layout->clients()));
  }
  if (world_.size() == 1) notes_.emplace_back("one rank is fusion centre and all parties: a simulation");
  if (!config_.is_spectrum()) {
    loss_of_outputs_ =
        make_target_loss(config_.loss, config_.head.outputs.value_or(default_outputs(config_.loss, 1)), 1);
    check_class_labels(config_.data, loss_of_outputs_->classifies() && loss_of_outputs_->outputs() == 1, config_.loss);
    config_.data.label_map = [this](double raw) { return loss_of_outputs_->label(raw); };
  } else {
    check_class_labels(config_.data, false, config_.loss);
  }
  inputs_.source_digests = digests_of_sources();
  data_ = open_source();
  inputs_.dataset.is_public = data_.is_public;
  inputs_.dataset.replayable = data_.replayable;
  inputs_.dataset.digest = data_.digest;
  inputs_.dataset.fingerprint = data_.fingerprint;
  if (config_.held_out.empty()) return;
  held_out_ = open_held_out();
  if (!harms_nobody(config_.privacy, data_.is_public)) inputs_.require_other_records(files_of_held_out());
  if (config_.privacy.protects()) {
    notes_.emplace_back(
        "the records of --test count as public: the parties' embeddings of them go to rank 0 without noise");
  }
}

VerticalDataset VerticalRun::open_held_out() {
  return open_vertical(config_.held_out_settings(), static_cast<std::size_t>(inputs_.layout->clients() - 1),
                       first_party(), party_count(), first_rank());
}

/// The files of features that this rank's parties have held out.
std::vector<std::string> VerticalRun::files_of_held_out() const {
  const VerticalSettings settings = config_.held_out_settings();
  if (settings.files.empty() && !is_per_client(settings.source)) return {files_of(settings.source).front()};
  std::vector<std::string> files;
  for (std::size_t k = first_party(); k < first_party() + party_count(); ++k) {
    files.push_back(settings.files.empty() ? name_of_client(settings.source, static_cast<Client>(k + 1))
                                           : settings.files[k]);
  }
  return files;
}

/// Covers the held-out records too, as far as rank 0 has read them.
std::string VerticalRun::digest_of_inputs() const {
  const std::string inputs = LearningRun::digest_of_inputs();
  if (!held_out_) return inputs;
  return sha256(inputs + (held_out_->common ? held_out_->fingerprint : held_out_->label_fingerprint));
}

VerticalDataset VerticalRun::open_source() {
  return open_vertical(config_.settings(), static_cast<std::size_t>(inputs_.layout->clients() - 1), first_party(),
                       party_count(), knows_labels());
}

void VerticalRun::agree_on_data() {
  rank_key_.emplace(agreement_);
  if (data_.common) {
    agreement_.same("content of " + config_.data.source,
                    declare_public(rank_key_->digest("content", data_.fingerprint)));
  }
  agree_on_labels();
  data_.shape = joined_shape(agreement_, data_);
  agreement_.together([&] {
    check_drops();
    check_ids();
  });
  note_names();
  align_records(agreement_, *rank_key_, data_);
  if (config_.privacy.unit == PrivacyUnit::person) {
    group_records(agreement_, *rank_key_, config_.plan.person_rows, data_);
    const auto m = static_cast<std::int64_t>(data_.batch);
    data_.shape.rounds = (*data_.shape.records + m - 1) / m * config_.data.epochs;
    notes_.emplace_back("persons count alike: each is in the objective by the mean over the person's records");
  }
  if (held_out_) agree_on_held_out();
}

/// A spectrum's columns are named by the program: y is a place.
void VerticalRun::note_names() {
  if (config_.is_spectrum()) return;
  for (const std::vector<std::string>& of_party : data_.shape.names) {
    std::ranges::move(notes_on_names(of_party), std::back_inserter(notes_));
  }
}

/// The held-out records have the columns of those that are learned from.
void VerticalRun::agree_on_held_out() {
  if (held_out_->common) agreement_.same("content of --test", declare_public(held_out_->fingerprint));
  held_out_->shape = joined_shape(agreement_, *held_out_);
  const VerticalShape& shape = held_out_->shape;
  agreement_.together([&] {
    for (std::size_t k = 0; k < shape.columns.size(); ++k) {
      check<DataError>(shape.columns[k] == data_.shape.columns[k],
                       "--test: party {} has {} columns, where it has {} to learn from. Give files with the same "
                       "columns.",
                       k + 1, shape.columns[k], data_.shape.columns[k]);
      require_same_names(data_.shape.names[k], shape.names[k], fmt::format("party {}", k + 1), "--test");
    }
  });
  align_records(agreement_, *rank_key_, *held_out_);
  if (!harms_nobody(config_.privacy, data_.is_public)) agreement_.together([&] { compare_held_out(); });
}

/// Tells owners which records of --test are among those to learn from: by the ids, of which all ranks have digests,
/// else by each party's columns.
void VerticalRun::compare_held_out() {
  if (!data_.ids.empty()) {
    const std::unordered_set<std::uint64_t> own(data_.ids.begin(), data_.ids.end());
    std::vector<std::size_t> shared;
    for (std::size_t i = 0; i < held_out_->ids.size(); ++i) {
      if (own.contains(held_out_->ids[i])) shared.push_back(i);
    }
    return inputs_.note_shared(inputs_.first_client(), Secret(shared), held_out_->ids.size());
  }
  for (std::size_t k = 0; k < party_count(); ++k) {
    const std::size_t width = data_.shape.columns[first_party() + k];
    const Secret<Batch> known = rows_of_party(open_held_out(), k, width);
    const Secret<Batch> own = rows_of_party(open_source(), k, width);
    Secret<std::vector<std::size_t>> shared;
    shared.update(
        [](auto& numbers, const Batch& all, const Batch& of_party) { numbers = KnownRecords(all).found_in(of_party); },
        known, own);
    inputs_.note_shared(static_cast<Client>(first_party() + k + 1), shared,
                        static_cast<std::size_t>(held_out_->shape.records.value_or(0)));
  }
}

/// Ranks that know the labels must know the same. Of labels that rank 0 alone knows nothing is said. **Collective.**
void VerticalRun::agree_on_labels() {
  if (config_.plan.labels == LabelHolders::head) return;
  const std::string& own = data_.label_fingerprint;
  const auto all = agreement_.all_gather(declare_public(own.empty() ? own : rank_key_->digest("labels", own)));
  agreement_.together([&] {
    for (std::size_t r = 1; r < all.size(); ++r) {
      check<DataError>(all[r].empty() || all[r] == all[0],
                       "rank {} has read other labels than rank 0 (or in another order: all must learn from the same) "
                       "give all ranks the same label source",
                       r);
    }
  });
}

/// A column that one party has is no business of another's, but somebody's file must have it.
void VerticalRun::check_drops() const {
  for (std::size_t i = 0; i < data_.shape.dropped.size(); ++i) {
    check(data_.shape.dropped[i], "--drop: no party's file has a column '{}' (nothing would be left out) correct it",
          config_.data.drop[i]);
  }
}

/// Numbers that identify records would be learned from, and records would go together by their place.
void VerticalRun::check_ids() {
  if (!config_.data.id.empty() || data_.common) return;
  notes_.emplace_back("no --id: records of the parties' files go together by their place");
  for (std::size_t k = 0; k < data_.shape.names.size(); ++k) {
    for (const std::string& name : data_.shape.names[k]) {
      check(name != "id" && name != "ID" && name != "Id",
            "party {} has a column '{}' and there is no --id (it would be a feature, and records would go together by "
            "their place) add --id {}, or --drop {}",
            k + 1, name, name, name);
    }
  }
}

void VerticalRun::open_model() {
  check(!config_.static_regret || may_pool_records(),
        "--regret where records or metrics are private (networks would be fitted to everybody's records without noise) "
        "leave it out");
  make_architecture();
  dimension_ = Network<float>(architecture_.head).dimension();
  choose_rounds();
  choose_bits();
}

void VerticalRun::make_architecture() {
  const std::vector<std::size_t>& columns = data_.shape.columns;
  if (!loss_of_outputs_) {
    const std::size_t targets = data_.shape.targets;
    loss_of_outputs_ =
        make_target_loss(config_.loss, config_.head.outputs.value_or(default_outputs(config_.loss, targets)), targets);
  }
  check(config_.features.outputs.has_value(),
        "--feature-net that ends with d (the data say nothing of embeddings) give their size, as in d-64-16");
  for (std::size_t k = 0; k < columns.size(); ++k) {
    architecture_.features.push_back(
        config_.features.architecture(columns[k], 1, fmt::format("--feature-net of party {}", k + 1)));
  }
  architecture_.head =
      config_.head.architecture(columns.size() * *config_.features.outputs, loss_of_outputs_->outputs(), "--head");
  architecture_.precision = config_.precision;
  architecture_.seed = config_.data.seed;
  architecture_.optimiser = config_.optimiser;
}

/// Whether un-noised records of all parties may go to rank 0 after the rounds: nothing that the run claims is lost.
bool VerticalRun::may_pool_records() const {
  const bool secret = config_.privacy.protects() && config_.privacy.noise_key != "seed" && !data_.is_public;
  return metrics_policy().shared() && !secret;
}

void VerticalRun::choose_rounds() {
  VerticalPlan& plan = config_.plan;
  const std::int64_t records = data_.shape.records.value_or(std::numeric_limits<std::int64_t>::max());
  check(static_cast<std::int64_t>(data_.batch) <= records,
        "--batch {} of {} records (no round would be full) give at most {}", data_.batch, records, records);
  config_.data.batch = data_.batch;
  plan.batch = data_.batch;
  plan.keeps_predictions = loss_of_outputs_->classifies() && loss_of_outputs_->outputs() <= 2;
  plan.rounds = config_.is_spectrum() && !config_.rounds ? rounds_of_spectrum : inputs_.rounds_of(data_.shape.rounds);
  check(!plan.lazy_after || *plan.lazy_after < plan.rounds,
        "--baseline lazy:{} of {} rounds (nobody would stop learning) name an earlier round",
        plan.lazy_after.value_or(0), plan.rounds);
}

void VerticalRun::choose_bits() {
  quantiser_ = quantiser_table().make(config_.quantiser);
  if (config_.bits.text.empty()) return;
  check(quantiser_->chooses_bits(),
        "--bits {} with --quantiser {}: a floating-point number has always as many bits. Choose scalar or hexagonal.",
        config_.bits.text, config_.quantiser);
  bits_ = config_.bits.values(config_.plan.rounds, quantiser_->most_bits());
  note_cap();
  by_bits_.resize(static_cast<std::size_t>(std::ranges::max(bits_)) + 1);
  for (const long long b : bits_) {
    auto& own = by_bits_[static_cast<std::size_t>(b)];
    if (!own) own = quantiser_->with_bits(b);
  }
}

/// From where on errors of quantisation fall no more.
void VerticalRun::note_cap() {
  const std::optional<Round> capped = config_.bits.first_capped(quantiser_->most_bits());
  if (!capped || *capped >= config_.plan.rounds) return;
  notes_.push_back(fmt::format(
      "--bits {}: from round {} on it asks for more than the {} bits that there are: errors of quantisation "
      "fall no more, and the paper's condition for sublinear regret does not hold",
      config_.bits.text, *capped + 1, quantiser_->most_bits()));
}

VerticalWire VerticalRun::wire() const {
  VerticalWire wire;
  wire.embeddings = [this](Round t) -> const Quantiser& {
    return bits_.empty() ? *quantiser_ : *by_bits_[static_cast<std::size_t>(bits_[static_cast<std::size_t>(t)])];
  };
  wire.head = quantiser_table().make(config_.head_quantiser);
  wire.exact = quantiser_table().make(config_.precision == Precision::full ? "float64" : "float32");
  return wire;
}

/// 1 + E releases of a record in each round.
std::unique_ptr<Protection> VerticalRun::make_protection(const ReleaseSettings& settings) const {
  auto mechanism = std::make_unique<MultipartMechanism>(config_.privacy.mechanism_row().name, settings,
                                                        static_cast<std::size_t>(1 + config_.plan.local_steps));
  const VerticalParts parts = add_vertical_parts(*mechanism, architecture_, config_.plan);
  for (const std::size_t part : parts.gradients) {
    if (config_.precision == Precision::single) GradientSum<float>::check_clip(mechanism->clip(part));
  }
  return mechanism;
}

RunFacts VerticalRun::privacy_facts() {
  RunFacts facts = common_facts(config_.plan.rounds);
  facts.trust = config_.privacy.protects() ? TrustModel::local : TrustModel::none;
  facts.vertical =
      VerticalTrust{config_.plan.labels == LabelHolders::all, inputs_.layout->clients() - 1, config_.plan.local_steps,
                    config_.plan.central, static_cast<std::int64_t>(config_.plan.person_rows)};
  facts.protection = [this](const ReleaseSettings& settings) { return make_protection(settings); };
  facts.price_factor = std::sqrt(static_cast<double>(1 + config_.plan.local_steps));
  facts.served = served();
  for (const long long bits : bits_) facts.public_inputs += fmt::format(" {}", bits);
  return facts;
}

/// Rounds of each of this rank's clients. Labels that all know are nobody's secret: they are never paid for.
std::vector<ServedRounds> VerticalRun::served() const {
  std::vector<ServedRounds> served;
  const std::optional<std::int64_t> records = data_.shape.records;
  const auto m = static_cast<std::int64_t>(config_.plan.batch);
  const std::optional<Round> of_pass = records ? std::optional<Round>((*records + m - 1) / m) : std::nullopt;
  served.reserve(static_cast<std::size_t>(inputs_.client_count()));
  for (Client u = inputs_.first_client(); u < inputs_.first_client() + inputs_.client_count(); ++u) {
    const bool pays = u > 0 || config_.plan.labels == LabelHolders::head || config_.plan.central;
    served.push_back(pays ? ServedRounds{records, of_pass, data_.shape.rounds} : ServedRounds{0, 0, 0});
  }
  return served;
}

}  // namespace starling
