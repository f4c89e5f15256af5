#include "run/inputs/inputs.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>

#include <fmt/ranges.h>

#include "core/check.hpp"
#include "core/text/per_client.hpp"
#include "data/column_names.hpp"
#include "data/formats/first_reading.hpp"
#include "data/generators/synthetic.hpp"
#include "data/memory_records.hpp"
#include "data/serving/known_records.hpp"
#include "data/serving/partition.hpp"
#include "data/source.hpp"
#include "privacy/ledger/served_rounds.hpp"
#include "run/identity/introductions.hpp"
#include "run/inputs/columns_by_name.hpp"
#include "run/inputs/rank_key.hpp"
#include "run/settings/configuration.hpp"
#include "run/settings/learning_config.hpp"
#include "run/settings/privacy_options.hpp"

namespace starling {

namespace {

/// The files of a source; none of generators, memory and standard input.
std::vector<std::string> files_of_source(const std::string& source) {
  return is_synthetic(source) || source == "-" ? std::vector<std::string>() : files_of(source);
}

}  // namespace

std::optional<std::int64_t> most_records_of_clients(Agreement& agreement, const Dataset& dataset) {
  constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();
  const std::int64_t most = agreement.max(declare_public(dataset.most_records().value_or(endless)));
  return most == endless ? std::nullopt : std::optional(most);
}

RunInputs::RunInputs(World& world, const Configuration& configuration, std::vector<std::string>& notes)
    : first_reading(std::make_shared<FirstReading>(0)),
      world_(world),
      agreement_(world),
      configuration_(configuration),
      notes_(notes) {}

RunInputs::~RunInputs() = default;

const LearningConfig& RunInputs::config() const {
  return configuration_.common();
}

Client RunInputs::number_of_clients(std::optional<Client> of_topology) const {
  if (earlier) return members.clients();  // on any number of ranks
  std::optional<Client> asked = config().clients;
  if (config().clients_per_rank) asked = *config().clients_per_rank * static_cast<Client>(world_.size());
  check(!asked || !of_topology || *asked == *of_topology,
        "{} clients are asked for but the topology has {}: they must agree. Leave out --clients, or name another "
        "topology.",
        asked.value_or(0), of_topology.value_or(0));
  const Client clients = of_topology.value_or(asked.value_or(static_cast<Client>(world_.size())));
  check(asked.has_value() || clients <= static_cast<Client>(world_.size()),
        "{} clients on {} ranks: a rank would host several, which must be asked for. Start {} ranks, or add --clients "
        "{}.",
        clients, world_.size(), clients, clients);
  return clients;
}

void RunInputs::place_clients(std::optional<Client> of_topology) {
  const Client clients = number_of_clients(of_topology);
  layout.emplace(earlier ? earlier->layout : Layout(clients, world_.size()));
  int idle = 0;
  for (int r = 0; r < world_.size(); ++r) idle += layout->count(r) == 0 ? 1 : 0;
  if (idle > 0) notes_.push_back(fmt::format("{} ranks host no client and stay idle", idle));
}

void RunInputs::introduce() {
  agreement_.together([&] {
    check(members_before.empty() || config().members,
          "the run began with --members, and goes on without: nobody would know who takes part. Bring --identity and "
          "--members back into its config.ini.");
  });
  if (!config().members) return;
  introductions = std::make_shared<const Introductions>(
      agreement_, *layout, members.lost(), IdentityFiles{*config().identity, *config().members}, config().as_given);
  agreement_.together(
      [&] { require_same_members(members_before, introductions->members(), members.lost(), *config().members); });
  sealed = seal_messages(world_, agreement_, *introductions, config().text, config().seal);
}

std::vector<char> RunInputs::lost_here() const {
  std::vector<char> lost;
  for (Client u = first_client(); u < first_client() + client_count(); ++u) lost.push_back(members.is_lost(u) ? 1 : 0);
  return lost;
}

void RunInputs::open_streams(DataSettings& data) {
  agreement_.together([&] { require_protection(config().privacy); });
  const bool by_name = is_per_client(data.source) || members.any_joined() || config().test;
  const MatchedColumns matched = match_columns(agreement_, by_name ? sources() : std::vector<std::string>(), data);
  agreement_.together([&] {
    data.may_lack = [dropped = matched.dropped](const std::string& column) { return dropped.contains(column); };
    data.columns = matched.names;
    data.go_on_waiting = [this] { return world_.go_on_waiting(); };
    data.note_left_out = [this](const Secret<std::string>& record) { for_owner.tell(record); };
    data.first_reading = first_reading = std::make_shared<FirstReading>(data.memory);
    if (config().save_partition && world_.rank() == 0 && !config().resume)
      check_saves_partition(data, *config().save_partition);
    open_records(data);
    append_joined(data);
    source_digests = digests_of_sources();
  });
}

void RunInputs::open_records(const DataSettings& data) {
  const Client first = std::min(first_client(), clients_at_first());
  const Client end = std::min(first_client() + client_count(), clients_at_first());
  dataset = open_dataset(data, clients_at_first(), first, end - first);
}

Dataset RunInputs::opened_again(const DataSettings& data) const {
  Dataset again = open_dataset(data, layout->clients(), first_client(), client_count());
  if (batching) again.plan(*batching);
  return again;
}

/// A run that goes on without its largest client keeps the number of batches.
void RunInputs::deal_records() {
  if (!config().deals_evenly) return;
  const DataSettings& data = config().data;
  Batching dealt{data.batch, data.epochs};
  if (earlier && earlier->rounds_of_pass > 0) {
    dealt.rounds_of_pass = earlier->rounds_of_pass;
  } else {
    const std::optional<std::int64_t> most = most_records_of_clients(agreement_, dataset);
    if (!most) return;
    const auto m = static_cast<std::int64_t>(data.batch);
    dealt.rounds_of_pass = *most / m + (*most % m > 0 ? 1 : 0);
  }
  batching = dealt;
  agreement_.together([&] { dataset.plan(dealt); });
}

Vector RunInputs::factors_of_own_means(const std::vector<std::unique_ptr<Stream>>& streams) const {
  const auto m = static_cast<double>(config().data.batch);
  Vector factors;
  for (const auto& stream : streams) {
    const auto records = static_cast<double>(stream->records().value_or(0));
    factors.push_back(records > 0 ? m * static_cast<double>(*stream->rounds_of_pass()) / records : 1);
  }
  return factors;
}

Vector RunInputs::records_of_clients() {
  Vector own;
  for (const auto& stream : dataset.streams) own.push_back(static_cast<double>(stream->records().value_or(0)));
  return joined(agreement_.all_gather(declare_public(own)));
}

void RunInputs::read_again_with_other_constants() {
  open_again(config().data);
  read_test();
}

void RunInputs::read_again_with_missing_values() {
  DataSettings data = config().data;
  data.shows_missing = true;
  open_again(data);
}

void RunInputs::open_again(const DataSettings& data) {
  const DataShape agreed = dataset.shape;
  open_records(data);
  dataset.shape = agreed;
}

void RunInputs::read_test() {
  if (config().test) test = read_test_set(*config().test, config().data, dataset.shape);
}

/// Figures on --test are of labels as the run has them.
void RunInputs::note_clipped_labels() {
  const auto& scale = dataset.constants ? dataset.constants->label_standardisation : std::nullopt;
  if (!test || !scale || !scale->is_clipped()) return;
  std::size_t clipped = 0;
  for (std::size_t i = 0; i < test->size(); ++i) clipped += std::abs(test->label(i)) >= scale->limit ? 1 : 0;
  if (clipped == 0) return;
  notes_.push_back(fmt::format(
      "{} of {} labels of --test lie at an end of their range or beyond: figures are of labels clipped to it. A wider "
      "range in --ranges leaves them as they are",
      clipped, test->size()));
}

void RunInputs::open_test(bool harmless) {
  read_test();
  note_clipped_labels();
  if (!test || is_synthetic(*config().test) || harmless) return;
  const bool in_memory = is_in_memory(*config().test);
  require_other_records({in_memory ? *config().test : files_of(*config().test).front()});
  if (!dataset.replayable) return;
  const KnownRecords known(*test);
  for (std::size_t k = 0; k < dataset.streams.size(); ++k) {
    for_owner.note_shared(first_client() + static_cast<Client>(k), known.found_in(*dataset.streams[k]), test->size());
    dataset.streams[k]->plan(batching.value_or(config().data.batching()));
  }
}

void RunInputs::require_other_records(const std::vector<std::string>& of_test) const {
  for (const std::string& file : of_test) {
    const std::string digest = is_in_memory(file) ? digest_of_memory(file) : first_reading->digest(file);
    const auto has_it = [&](const std::string& own) { return own.find(digest) != std::string::npos; };
    check(std::ranges::none_of(source_digests, has_it),
          "--test '{}': these are records to learn from, byte by byte. The metrics of --test are exact, and would tell "
          "of records that are protected. Name other records, or leave it out.",
          file);
  }
}

/// Opens the records of this rank's clients that have joined.
void RunInputs::append_joined(const DataSettings& data) {
  for (const Membership::Change& each : members.changes(Membership::Change::Kind::join)) {
    DataSettings joined = data;
    joined.source = each.source;
    joined.earlier = each.clients.front();
    if (is_per_client(each.source) || is_synthetic(each.source)) joined.partition = DataSettings().partition;
    const Client behind = each.clients.back() + 1;
    const Client first = std::clamp(first_client(), each.clients.front(), behind);
    const Client end = std::clamp(first_client() + client_count(), each.clients.front(), behind);
    dataset.append(open_dataset(joined, behind, first, end - first), each.round);
  }
  check(!members.any_joined() || dataset.replayable,
        "--join: records come through a pipe: the run must find all records again whenever it goes on. Give files.");
}

/// Records of clients that joined are the same on all ranks that read them, and fit the model. **Collective.**
void RunInputs::agree_on_joined() {
  if (!members.any_joined()) return;
  if (world_.size() > 1) {
    const RankKey key(agreement_, introductions.get());
    agreement_.same("content of the records of clients that join",
                    declare_public(key.digest("joined", dataset.joined_fingerprint)));
  }
  const auto shapes = agreement_.all_gather(declare_public(dataset.of_joined.text()));
  agreement_.together([&] {
    DataShape joined{.empty = true};
    for (const std::string& text : shapes) joined = joined.joined(DataShape::parse(text));
    dataset.of_joined = joined;
    if (joined.empty) return;
    DataShape& shape = dataset.shape;
    check<DataError>(!shape.sparse || joined.features <= shape.features,
                     "--join: records of new clients have feature {}, and the run's model has {}: it keeps its size. "
                     "Leave such features out.",
                     joined.features, shape.features);
    const std::optional<Round> rounds = shape.rounds;
    shape = shape.joined(joined);
    shape.rounds = rounds;  // a run has as many rounds as at first, unless it is asked for more
  });
}

void RunInputs::agree_on_data() {
  if (dataset.common && world_.size() > 1) {
    const RankKey key(agreement_, introductions.get());
    agreement_.same("content of " + config().data.source, declare_public(key.digest("content", dataset.fingerprint)));
  }
  const auto shapes = agreement_.all_gather(declare_public(dataset.shape.text()));
  agreement_.together([&] {
    DataShape all;
    all.empty = true;
    for (const std::string& text : shapes) all = all.joined(DataShape::parse(text));
    check<DataError>(!all.empty, "'{}': no client has a record, so nothing can be learned. Check the source.",
                     config().data.source);
    dataset.shape = all;
  });
  agree_on_joined();
  note_clients_without_records();
  std::ranges::move(notes_on_names(dataset.shape.names), std::back_inserter(notes_));
  if (dataset.constants) std::ranges::move(notes_on_codes(*dataset.constants), std::back_inserter(notes_));
  if (dataset.shape.sparse && !config().data.dimension && config().privacy.protects()) {
    notes_.push_back(fmt::format(
        "{} features: the largest index in the clients' records, which everybody learns so; --dimension fixes it "
        "beforehand",
        dataset.shape.features));
  }
}

/// Numbers of records are public. **Collective.**
void RunInputs::note_clients_without_records() {
  std::int64_t none = 0;
  for (std::size_t k = 0; k < dataset.streams.size(); ++k) {
    const bool is_lost = members.is_lost(first_client() + static_cast<Client>(k));
    none += !is_lost && dataset.streams[k]->records() == 0 ? 1 : 0;
  }
  const std::int64_t all = agreement_.sum(declare_public(none));
  if (all == 0) return;
  notes_.push_back(fmt::format(
      "{} of {} clients have no record: they take no steps, and have what they hear from others. Name fewer "
      "--clients, or another --partition",
      all, layout->clients()));
}

Round RunInputs::rounds_of(std::optional<Round> available) const {
  const std::optional<Round>& asked = config().rounds;
  std::optional<Round> most = available;
  if (most && !dataset.of_joined.empty) {
    most = dataset.of_joined.rounds ? std::optional(std::max(*most, *dataset.of_joined.rounds)) : std::nullopt;
  }
  check(!most || !asked || *asked <= *most,
        "--rounds {} is beyond the data, which give {} rounds: nothing is repeated silently. Add --epochs.",
        asked.value_or(0), most.value_or(0));
  check(dataset.replayable || asked,
        "'{}' is read as it arrives: nobody knows beforehand when it ends. Say how many rounds to play: --rounds.",
        config().data.source);
  return asked.value_or(available.value_or(rounds_of_endless_streams));
}

std::vector<std::string> RunInputs::sources() const {
  const std::string& at_first = config().data.source;
  if (!is_per_client(at_first) && !members.any_joined()) return {at_first};
  std::vector<std::string> own;
  for (Client u = first_client(); u < first_client() + client_count(); ++u) {
    const Membership::Change* joined = members.joined_with(u);
    const std::string& source = joined != nullptr ? joined->source : at_first;
    own.push_back(is_per_client(source) ? name_of_client(source, u) : source);
  }
  return own;
}

std::vector<std::string> RunInputs::digests_of_sources() const {
  std::vector<std::string> digests;
  std::map<std::string, std::string> known;
  for (const std::string& source : sources()) {
    const auto [place, is_new] = known.emplace(source, "");
    std::string& text = place->second;
    if (is_new && is_in_memory(source)) text += digest_of_memory(source) + " ";
    for (const std::string& file : is_new ? files_of_source(source) : std::vector<std::string>()) {
      if (std::filesystem::is_regular_file(file)) text += first_reading->digest(file) + " ";
    }
    digests.push_back(text);
  }
  for (const std::string& file : more_files) {
    if (std::filesystem::is_regular_file(file)) digests.push_back(first_reading->digest(file) + " ");
  }
  return digests;
}

std::vector<std::string> RunInputs::digests_of_data() const {
  if (dataset.contents.empty()) return {fmt::format("{} {}", dataset.fingerprint, fmt::join(source_digests, ""))};
  std::vector<std::string> digests;
  for (std::size_t k = 0; k < dataset.contents.size(); ++k) {
    const std::string& source = dataset.fingerprints.empty() ? dataset.fingerprint : dataset.fingerprints[k];
    const std::string& file = source_digests.size() == 1 ? source_digests.front() : source_digests[k];
    digests.push_back(fmt::format("{} {}{:016x}", source, file, dataset.contents[k]));
  }
  return digests;
}

std::vector<ServedRounds> RunInputs::served() const {
  std::vector<ServedRounds> served;
  served.reserve(dataset.streams.size());
  for (const auto& stream : dataset.streams) {
    const Client u = first_client() + static_cast<Client>(served.size());
    const Membership::Change* joined = members.joined_with(u);
    served.push_back({stream->records(), stream->rounds_of_pass(), stream->rounds(), stream->uses_of_pass(),
                      members.is_lost(u), joined != nullptr ? joined->round : 0});
  }
  return served;
}

}  // namespace starling
