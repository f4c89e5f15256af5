// Inputs of a run: clients, records, start models, digests.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>

#include "core/digest.hpp"
#include "core/per_client.hpp"
#include "data/column_names.hpp"
#include "data/generators/synthetic.hpp"
#include "data/memory_records.hpp"
#include "data/serving/known_records.hpp"
#include "data/serving/partition.hpp"
#include "data/source.hpp"
#include "learning_run.hpp"
#include "protocol/own_model/lone_rows.hpp"
#include "rank_key.hpp"
#include "run/tuning/settings_by_rule.hpp"
#include "start_models.hpp"

namespace starling {

namespace {

/// The files of a source; none of generators, memory and standard input.
std::vector<std::string> files_of_source(const std::string& source) {
  return is_synthetic(source) || source == "-" ? std::vector<std::string>() : files_of(source);
}

}  // namespace

Client LearningRun::number_of_clients(std::optional<Client> of_topology) const {
  if (resumption_) return members_.clients();  // on any number of ranks
  std::optional<Client> asked = common().clients;
  if (common().clients_per_rank) asked = *common().clients_per_rank * static_cast<Client>(world_.size());
  check(
      !asked || !of_topology || *asked == *of_topology,
      "{} clients are asked for but the topology has {} (they must agree) leave out --clients or name another topology",
      asked.value_or(0), of_topology.value_or(0));
  const Client clients = of_topology.value_or(asked.value_or(static_cast<Client>(world_.size())));
  check(
      asked.has_value() || clients <= static_cast<Client>(world_.size()),
      "{} clients on {} ranks (a rank would host several, which must be asked for) start {} ranks, or add --clients {}",
      clients, world_.size(), clients, clients);
  return clients;
}

std::unique_ptr<Graph> LearningRun::place_clients(const std::optional<std::string>& topology) {
  std::unique_ptr<Graph> graph = topology ? read_graph(*topology) : nullptr;
  const Client clients = number_of_clients(graph ? std::optional(graph->clients()) : std::nullopt);
  layout_.emplace(resumption_ ? resumption_->layout(clients) : Layout(clients, world_.size()));
  int idle = 0;
  for (int r = 0; r < world_.size(); ++r) idle += layout_->count(r) == 0 ? 1 : 0;
  if (idle > 0) notes_.push_back(fmt::format("{} ranks host no client and stay idle", idle));
  return graph;
}

std::vector<char> LearningRun::lost_here() const {
  std::vector<char> lost;
  for (Client u = first_client(); u < first_client() + client_count(); ++u) lost.push_back(members_.is_lost(u) ? 1 : 0);
  return lost;
}

Client LearningRun::clients_at_first() const {
  return resumption_ ? members_.at_first() : layout_->clients();
}

void LearningRun::open_streams(DataSettings& data) {
  require_protection(common().privacy);
  data.go_on_waiting = [this] { return world_.go_on_waiting(); };
  data.note_left_out = [this](const Secret<std::string>& record) { tell_owner(record); };
  source_digests_ = digests_of_sources();
  if (common().save_partition && first_rank() && !common().resume)
    check_saves_partition(data, *common().save_partition);
  open_records(data);
  append_joined(data);
}

void LearningRun::open_records(const DataSettings& data) {
  const Client first = std::min(first_client(), clients_at_first());
  const Client end = std::min(first_client() + client_count(), clients_at_first());
  dataset_ = open_dataset(data, clients_at_first(), first, end - first);
}

Dataset LearningRun::opened_again(const DataSettings& data) const {
  Dataset again = open_dataset(data, layout_->clients(), first_client(), client_count());
  if (batching_) again.plan(*batching_);
  return again;
}

/// Deals the records of every client into as many batches of a pass as the client with most records fills: all clients
/// step in all rounds, and each record counts alike (docs/methods/decentralized.md, "Clients of unequal size"). A run
/// that goes on without its largest client keeps that number. **Collective.**
void LearningRun::deal_records() {
  if (!uses_records() || !common().deals_evenly) return;
  const DataSettings& data = common().data;
  Batching batching{data.batch, data.epochs};
  if (const Round known = resumption_ ? directory_->identity().rounds_of_pass : 0; known > 0) {
    batching.rounds_of_pass = known;
  } else {
    const std::optional<std::int64_t> most = most_records_of_clients(agreement_, dataset_);
    if (!most) return;
    const auto m = static_cast<std::int64_t>(data.batch);
    batching.rounds_of_pass = *most / m + (*most % m > 0 ? 1 : 0);
  }
  batching_ = batching;
  agreement_.together([&] { dataset_.plan(batching); });
}

Vector LearningRun::factors_of_own_means(const std::vector<std::unique_ptr<Stream>>& streams) const {
  const auto m = static_cast<double>(common().data.batch);
  Vector factors;
  for (const auto& stream : streams) {
    const auto records = static_cast<double>(stream->records().value_or(0));
    factors.push_back(records > 0 ? m * static_cast<double>(*stream->rounds_of_pass()) / records : 1);
  }
  return factors;
}

Vector LearningRun::records_of_clients() {
  Vector own;
  for (const auto& stream : dataset_.streams) own.push_back(static_cast<double>(stream->records().value_or(0)));
  return joined(agreement_.all_gather(declare_public(own)));
}

/// Keeps the shape of the data on which all ranks have agreed.
void LearningRun::read_again_with_other_constants() {
  const DataShape agreed = dataset_.shape;
  open_records(common().data);
  dataset_.shape = agreed;
  read_test();
}

void LearningRun::read_test() {
  if (common().test) test_ = read_test_set(*common().test, common().data, dataset_.shape);
}

/// Reads the test set before anything is released. Owners are to learn which of its records they have. Rank-local.
void LearningRun::open_test() {
  read_test();
  if (!test_ || is_synthetic(*common().test) || harms_nobody(common().privacy, dataset_.is_public)) return;
  const bool in_memory = is_in_memory(*common().test);
  require_other_records({in_memory ? *common().test : files_of(*common().test).front()});
  if (!dataset_.replayable) return;
  const KnownRecords known(*test_);
  for (std::size_t k = 0; k < dataset_.streams.size(); ++k) {
    note_shared(first_client() + static_cast<Client>(k), known.found_in(*dataset_.streams[k]), test_->size());
    dataset_.streams[k]->plan(batching_.value_or(common().data.batching()));
  }
}

void LearningRun::note_shared(Client u, const Secret<std::vector<std::size_t>>& numbers, std::size_t records) {
  if (!in_test_) in_test_.emplace();
  in_test_->update(
      [&](std::string& text, std::vector<std::size_t> found) {
        if (found.empty()) return;
        for (std::size_t& each : found) ++each;
        text += fmt::format("client {}: of {} records of --test these are among its own, counted from 1: {}\n", u,
                            records, fmt::join(found, ", "));
      },
      numbers);
}

void LearningRun::require_other_records(const std::vector<std::string>& of_test) const {
  for (const std::string& file : of_test) {
    const std::string digest = is_in_memory(file) ? digest_of_memory(file) : sha256_of_file(file);
    const auto has_it = [&](const std::string& own) { return own.find(digest) != std::string::npos; };
    check(std::ranges::none_of(source_digests_, has_it),
          "--test '{}': these are records to learn from, byte by byte. The metrics of --test are exact, and would tell "
          "of "
          "records that are protected. Name other records, or leave it out.",
          file);
  }
}

/// Opens the records of this rank's clients that have joined.
void LearningRun::append_joined(const DataSettings& data) {
  for (const Membership::Change& each : members_.changes(Membership::Change::Kind::join)) {
    DataSettings joined = data;
    joined.source = each.source;
    joined.earlier = each.clients.front();
    if (is_per_client(each.source) || is_synthetic(each.source)) joined.partition = DataSettings().partition;
    const Client behind = each.clients.back() + 1;
    const Client first = std::clamp(first_client(), each.clients.front(), behind);
    const Client end = std::clamp(first_client() + client_count(), each.clients.front(), behind);
    dataset_.append(open_dataset(joined, behind, first, end - first), each.round);
  }
  check(!members_.any_joined() || dataset_.replayable,
        "--join: records come through a pipe (the run must find all records again whenever it goes on). Give files.");
}

/// Records of clients that joined are the same on all ranks that read them, and fit the model. **Collective.**
void LearningRun::agree_on_joined() {
  if (!members_.any_joined()) return;
  if (world_.size() > 1) {
    const RankKey key(agreement_);
    agreement_.same("content of the records of clients that join",
                    declare_public(key.digest("joined", dataset_.joined_fingerprint)));
  }
  const auto shapes = agreement_.all_gather(declare_public(dataset_.of_joined.text()));
  agreement_.together([&] {
    DataShape joined{.empty = true};
    for (const std::string& text : shapes) joined = joined.joined(DataShape::parse(text));
    dataset_.of_joined = joined;
    if (joined.empty) return;
    DataShape& shape = dataset_.shape;
    check<DataError>(
        !shape.sparse || joined.features <= shape.features,
        "--join: records of new clients have feature {}, and the run's model has {} (it keeps its size). Leave such "
        "features out.",
        joined.features, shape.features);
    const std::optional<Round> rounds = shape.rounds;
    shape = shape.joined(joined);
    shape.rounds = rounds;  // a run has as many rounds as at first, unless it is asked for more
  });
}

void LearningRun::tell_owner(const Secret<std::string>& line) {
  for_owner_.update([](std::string& lines, const std::string& added) { lines += added + "\n"; }, line);
  if (!directory_) return;
  OwnersFile(directory_->private_folder(world_.rank()) + "/left-out.txt").append(for_owner_);
  for_owner_ = Secret<std::string>();
}

void LearningRun::protect_rows(std::shared_ptr<OwnModel>& own) {
  if (own == nullptr || !common().privacy.protects()) return;
  own = std::make_shared<LoneRows>(own, [this](const Secret<std::string>& line) { tell_owner(line); });
  notes_.emplace_back(
      "--model: a record on which the own model fails counts as zero, and a line in private/<rank>/left-out.txt says "
      "so");
}

void LearningRun::agree_on_data() {
  if (dataset_.common && world_.size() > 1) {
    const RankKey key(agreement_);
    agreement_.same("content of " + common().data.source, declare_public(key.digest("content", dataset_.fingerprint)));
  }
  const auto shapes = agreement_.all_gather(declare_public(dataset_.shape.text()));
  agreement_.together([&] {
    DataShape all;
    all.empty = true;
    for (const std::string& text : shapes) all = all.joined(DataShape::parse(text));
    check<DataError>(!all.empty, "'{}': no client has a record (nothing can be learned) check the source",
                     common().data.source);
    dataset_.shape = all;
  });
  agree_on_joined();
  note_clients_without_records();
  std::ranges::move(notes_on_names(dataset_.shape.names), std::back_inserter(notes_));
  if (dataset_.shape.sparse && !common().data.dimension && common().privacy.protects()) {
    notes_.push_back(fmt::format(
        "{} features: the largest index in the clients' records, which everybody learns so; --dimension fixes it "
        "beforehand",
        dataset_.shape.features));
  }
}

/// Numbers of records are public. **Collective.**
void LearningRun::note_clients_without_records() {
  std::int64_t none = 0;
  for (std::size_t k = 0; k < dataset_.streams.size(); ++k) {
    const bool is_lost = members_.is_lost(first_client() + static_cast<Client>(k));
    none += !is_lost && dataset_.streams[k]->records() == 0 ? 1 : 0;
  }
  const std::int64_t all = agreement_.sum(declare_public(none));
  if (all == 0) return;
  notes_.push_back(fmt::format(
      "{} of {} clients have no record: they take no steps, and have what they hear from others. Name fewer "
      "--clients, or another --partition",
      all, layout_->clients()));
}

Round LearningRun::rounds_of(std::optional<Round> available) const {
  const std::optional<Round>& asked = common().rounds;
  std::optional<Round> most = available;
  if (most && !dataset_.of_joined.empty) {
    most = dataset_.of_joined.rounds ? std::optional(std::max(*most, *dataset_.of_joined.rounds)) : std::nullopt;
  }
  check(!most || !asked || *asked <= *most,
        "--rounds {} is beyond the data, which give {} rounds (nothing is repeated silently) add --epochs",
        asked.value_or(0), most.value_or(0));
  check(dataset_.replayable || asked,
        "'{}' is read as it arrives (nobody knows beforehand when it ends) say how many rounds to play: --rounds",
        common().data.source);
  return asked.value_or(available.value_or(rounds_of_endless_streams));
}

Round LearningRun::first_rounds(Round now) const {
  if (!resumption_) return now;
  return resumption_->first_rounds(common(), now, dataset_.shape.rounds.value_or(rounds_of_endless_streams));
}

std::string LearningRun::why_not_resumable() const {
  const WhyNot& why_not = common().why_not;
  if (!why_not.goes_on.empty()) return why_not.goes_on;
  if (uses_records() && !dataset_.replayable && !why_not.leaves_out.empty()) return why_not.leaves_out;
  if (!model_can_be_told()) return "nobody can tell whether its own model is still the same (it has no identity)";
  return start_can_be_read_again() ? "" : "its start models come through a pipe, and are gone";
}

void LearningRun::require_resumable() const {
  const std::string why_not = why_not_resumable();
  if (why_not.empty()) return;
  check(!resumption_, "--resume: {} (nothing would be the same) start a run of its own, from these models: --start",
        why_not);
  check(!common().checkpoint.any(), "--checkpoint-every: {} (nobody could go on from one) leave it out", why_not);
}

void LearningRun::require_same_inputs() const {
  check(directory_->identity().inputs == digest_of_inputs(),
        "--resume '{}': the topology, the start models, the records of --test{} are not those that the run began with "
        "(it would be another) put them back, or start a run of its own",
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
  require_same_names(model.constants.feature_names(), dataset_.shape.names, common().start, common().data.source);
  if (!dataset_.constants || same_preparation(model.constants, *dataset_.constants)) return;
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

/// The source of every client of this rank, or the one that they all share.
std::vector<std::string> LearningRun::sources() const {
  const std::string& at_first = common().data.source;
  if (!is_per_client(at_first) && !members_.any_joined()) return {at_first};
  std::vector<std::string> own;
  for (Client u = first_client(); u < first_client() + client_count(); ++u) {
    const Membership::Change* joined = members_.joined_with(u);
    const std::string& source = joined != nullptr ? joined->source : at_first;
    own.push_back(is_per_client(source) ? name_of_client(source, u) : source);
  }
  return own;
}

std::vector<std::string> LearningRun::digests_of_sources() const {
  std::vector<std::string> digests;
  std::map<std::string, std::string> known;
  for (const std::string& source : sources()) {
    const auto [place, is_new] = known.emplace(source, "");
    std::string& text = place->second;
    if (is_new && is_in_memory(source)) text += digest_of_memory(source) + " ";
    for (const std::string& file : is_new ? files_of_source(source) : std::vector<std::string>()) {
      if (std::filesystem::is_regular_file(file)) text += sha256_of_file(file) + " ";
    }
    digests.push_back(text);
  }
  return digests;
}

/// Digests of each client's records, the same for any layout; of generated records one for all clients.
std::vector<std::string> LearningRun::digests_of_data() const {
  if (dataset_.contents.empty()) return {fmt::format("{} {}", dataset_.fingerprint, fmt::join(source_digests_, ""))};
  std::vector<std::string> digests;
  for (std::size_t k = 0; k < dataset_.contents.size(); ++k) {
    const std::string& source = dataset_.fingerprints.empty() ? dataset_.fingerprint : dataset_.fingerprints[k];
    const std::string& file = source_digests_.size() == 1 ? source_digests_.front() : source_digests_[k];
    digests.push_back(fmt::format("{} {}{:016x}", source, file, dataset_.contents[k]));
  }
  return digests;
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
  for (const auto& stream : dataset_.streams) {
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
  facts.public_data = dataset_.is_public;
  facts.replayable = dataset_.replayable && start_can_be_read_again() && model_can_be_told();
  facts.correlation = correlation_;
  facts.configuration = effective_;
  facts.rounds_matter = !common().why_not.more_rounds.empty();
  facts.public_inputs = digest_of_start() + model_identity();
  for (const std::string& constants : constants_files(common().data)) {
    if (!is_per_client(constants)) facts.public_inputs += " " + sha256_of_file(constants);
  }
  facts.data = digests_of_data();
  check<DataError>(!common().privacy.ledger || source_digests_ == digests_of_sources(),
                   "{}: it has changed while it was read (the ledger could not say what was released) start again",
                   common().data.source);
  check(!common().privacy.persons_shared || !dataset_.common,
        "--persons-shared with '{}': this file is dealt out by persons, so each has one client. Leave it out.",
        common().data.source);
  facts.persons_in_slots = common().privacy.unit == PrivacyUnit::person && reads_pipes_.value_or(false);
  facts.served.reserve(dataset_.streams.size());
  facts.clients_changed = members_.has_changed();
  for (const auto& stream : dataset_.streams) {
    const Client u = first_client() + static_cast<Client>(facts.served.size());
    const Membership::Change* joined = members_.joined_with(u);
    facts.served.push_back({stream->records(), stream->rounds_of_pass(), stream->rounds(), stream->uses_of_pass(),
                            members_.is_lost(u), joined != nullptr ? joined->round : 0});
  }
  return facts;
}

}  // namespace starling
