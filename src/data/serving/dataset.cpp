#include "data/serving/dataset.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <sstream>
#include <utility>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "core/text/per_client.hpp"
#include "data/formats/pipe.hpp"
#include "data/formats/readers.hpp"
#include "data/generators/generators.hpp"
#include "data/serving/partition.hpp"
#include "data/source.hpp"
#include "persons.hpp"
#include "scan.hpp"
#include "share_opener.hpp"
#include "streams.hpp"

namespace starling {

namespace {

/// A stream whose first round is round `begin` of the run. It is not asked for records before.
class LateStream final : public Stream {
 public:
  LateStream(std::unique_ptr<Stream> stream, Round begin) : stream_(std::move(stream)), begin_(begin) {}
  [[nodiscard]] const Secret<Batch>& next(Round t) override { return stream_->next(t - begin_); }
  [[nodiscard]] bool ended(Round t) override { return stream_->ended(t - begin_); }
  [[nodiscard]] std::optional<std::int64_t> planned(Round t) const override { return stream_->planned(t - begin_); }
  [[nodiscard]] std::int64_t participations() const override { return stream_->participations(); }
  [[nodiscard]] std::int64_t uses_of_pass() const override { return stream_->uses_of_pass(); }
  void plan(const Batching& batching) override { stream_->plan(batching); }
  [[nodiscard]] std::optional<std::int64_t> records() const override { return stream_->records(); }
  [[nodiscard]] std::optional<Round> rounds_of_pass() const override { return stream_->rounds_of_pass(); }
  /// Rounds of the run up to the end of the stream; 0 if the stream has no record.
  [[nodiscard]] std::optional<Round> rounds() const override {
    const std::optional<Round> own = stream_->rounds();
    return own && *own > 0 ? std::optional(begin_ + *own) : own;
  }

 private:
  std::unique_ptr<Stream> stream_;
  Round begin_;
};

constexpr char name_separator = '\x1f';

void check_settings(const DataSettings& settings, Client clients, Client first, Client count) {
  check(settings.batch >= 1, "batch={}: a round uses at least one record. Give --batch 1 or more.", settings.batch);
  check(settings.batch <= std::size_t{std::numeric_limits<std::int32_t>::max()},
        "batch={}: more than can be held. Give a smaller --batch.", settings.batch);
  check(settings.epochs >= 1, "epochs={}: the data is used at least once. Give --epochs 1 or more.", settings.epochs);
  check(settings.epochs <= 1'000'000, "epochs={}: more than a million. Give fewer.", settings.epochs);
  check(clients > settings.earlier && first >= settings.earlier && count >= 0 && count <= clients - first,
        "clients {} … {} of {}: no such block of clients.", first, first + count - 1, clients);
}

std::unique_ptr<Partition> partition_of(const DataSettings& settings) {
  return partition_table().make(settings.partition);
}

/// The column that records are read by, beside their features: of the person, else of the partition.
void set_key(DataSettings& settings, const Partition& partition) {
  settings.key = partition.key();
  if (settings.person.empty()) return;
  check(settings.key.empty() || settings.key == settings.person,
        "--partition {} with --person {}: persons are dealt as wholes, by their own column. Give --partition "
        "column:{}, or --partition file:PATH with a line for each person.",
        settings.partition, settings.person, settings.person);
  check(partition.looks_at() != Partition::Look::labels,
        "--partition {} with --unit person: it deals by labels, and a person has several. Choose contiguous, iid or "
        "column:{}.",
        settings.partition, settings.person);
  settings.key = settings.person;
  settings.key_option = "--person";
  settings.missing_key = settings.missing_person;
}

Partition::Look look_of(const DataSettings& settings, const Partition& partition) {
  return settings.person.empty() ? partition.looks_at() : Partition::Look::keys;
}

void refuse_person_rounds(const DataSettings& settings, const std::string& path) {
  check(!settings.person_rounds,
        "--person-rounds with '{}': a file has whole persons, each used once in a pass (--epochs). Leave it out; it is "
        "for pipes.",
        path);
}

Dataset open_common_file(DataSettings settings, Client clients, Client first, Client count) {
  require_regular(settings.source);
  refuse_person_rounds(settings, settings.source);
  const auto partition = partition_of(settings);
  set_key(settings, *partition);
  const Scan found = scan(settings.source, settings, look_of(settings, *partition));
  std::shared_ptr<const Persons> persons;
  if (!settings.person.empty()) persons = std::make_shared<Persons>(found.found);
  const Deal deal = partition->deal(persons ? persons->found() : found.found, clients - settings.earlier,
                                    first - settings.earlier, count, settings.seed);
  Dataset dataset;
  dataset.shape.features = found.features;
  dataset.shape.rounds = make_passes(settings, *std::max_element(deal.sizes.begin(), deal.sizes.end())).rounds();
  dataset.shape.sparse = found.sparse;
  dataset.shape.names = found.names;
  dataset.constants = found.constants;
  dataset.fingerprint = found.fingerprint + deal.fingerprint;
  dataset.common = true;
  const ShareOpener opener(settings.source, settings, found);
  dataset.streams = persons ? opener.open(deal.shares, persons) : opener.open(deal.shares);
  dataset.contents = opener.contents(deal.shares, persons);
  return dataset;
}

/// The stream of a client that has a pipe of its own.
void open_pipe(const std::string& path, const DataSettings& settings, Dataset& dataset) {
  check(settings.epochs == 1, "epochs={}: '{}' gives each record once. Leave --epochs out.", settings.epochs, path);
  check(settings.person.empty() || settings.persons_in_pipes,
        "--unit person with '{}': records of a person may come in any round, and a pipe is not read beforehand. Use a "
        "file, or a command with --person-rounds: omd or fedavg.",
        path);
  DataSettings own = settings;
  set_key(own, *partition_of(settings));
  auto reader = open_live_reader(path, own);
  DataShape shape;
  shape.features = reader->features();
  shape.sparse = reader->sparse();
  shape.empty = !shape.sparse && shape.features == 0;
  shape.names = reader->names();
  check(!shape.sparse || settings.dimension,
        "'{}': sparse records from a pipe: how many features there will be cannot be known. Give --dimension.", path);
  dataset.shape = dataset.shape.joined(shape);
  if (!shape.empty && !dataset.constants) dataset.constants = reader->constants();
  dataset.replayable = false;
  dataset.contents.push_back(0);
  if (settings.person.empty()) {
    dataset.streams.push_back(std::make_unique<LiveStream>(std::move(reader), settings));
    return;
  }
  auto uses = std::make_shared<Secret<PersonUses>>();
  if (!dataset.person_uses) dataset.person_uses = std::make_shared<KeptPersonUses>();
  dataset.person_uses->add(uses);
  dataset.streams.push_back(std::make_unique<LiveStream>(std::move(reader), settings, std::move(uses)));
}

void open_own_file(const std::string& path, const DataSettings& settings, Client clients_here, Dataset& dataset) {
  require_regular(path);
  refuse_person_rounds(settings, path);
  const auto partition = partition_of(settings);
  DataSettings own = settings;
  set_key(own, *partition);
  const Scan found = scan(path, own, look_of(own, *partition));
  std::shared_ptr<const Persons> persons;
  if (!own.person.empty()) persons = std::make_shared<Persons>(found.found);
  Share all;
  all.add(0, persons ? persons->size() : found.found.records);
  own.memory = settings.memory / static_cast<std::size_t>(clients_here);
  DataShape shape;
  shape.features = found.features;
  shape.sparse = found.sparse;
  shape.names = found.names;
  shape.rounds = make_passes(settings, all.size()).rounds();
  dataset.shape = dataset.shape.joined(shape);
  if (!dataset.constants) dataset.constants = found.constants;
  dataset.fingerprint += found.fingerprint;
  const ShareOpener opener(path, own, found);
  auto streams = persons ? opener.open({all}, persons) : opener.open({all});
  dataset.streams.push_back(std::move(streams.front()));
  dataset.contents.push_back(opener.contents({all}, persons).front());
}

/// The stream of a client without records.
class NoStream final : public Stream {
 public:
  [[nodiscard]] const Secret<Batch>& next(Round t) override {
    throw FailureError(fmt::format("round {} of a client without records", t));
  }
  [[nodiscard]] bool ended(Round) override { return true; }
  [[nodiscard]] std::int64_t participations() const override { return 0; }
  void plan(const Batching&) override {}
  [[nodiscard]] std::optional<std::int64_t> records() const override { return 0; }
  [[nodiscard]] std::optional<Round> rounds_of_pass() const override { return 0; }
  [[nodiscard]] std::optional<Round> rounds() const override { return 0; }
};

void open_nothing(Dataset& dataset) {
  dataset.streams.push_back(std::make_unique<NoStream>());
  dataset.contents.push_back(0);
}

bool has_files(const std::string& source) {
  const std::vector<std::string> files = files_of(source);
  return std::all_of(files.begin(), files.end(), [](const auto& file) { return std::filesystem::exists(file); });
}

Dataset open_per_client(const DataSettings& settings, Client first, Client count) {
  check(settings.partition == "contiguous",
        "--partition {}: each client of '{}' has a file of its own: nothing is dealt out. Leave it out.",
        settings.partition, settings.source);
  Dataset dataset;
  dataset.shape.empty = true;
  for (Client u = first; u < first + count; ++u) {
    const std::string path = name_of_client(settings.source, u);
    const std::size_t before = dataset.fingerprint.size();
    if (std::binary_search(settings.lost.begin(), settings.lost.end(), u) && !has_files(path))
      open_nothing(dataset);
    else if (is_pipe(path))
      open_pipe(path, settings, dataset);
    else
      open_own_file(path, settings, count, dataset);
    dataset.fingerprints.push_back(dataset.fingerprint.substr(before));
  }
  return dataset;
}

Dataset open_common_pipe(const DataSettings& settings, Client clients, Client first, Client count) {
  check(clients - settings.earlier == 1,
        "'{}' for {} clients: a record from a pipe reaches one reader. Give each client a pipe: --source "
        "'feed-{{client}}'.",
        settings.source, clients - settings.earlier);
  return open_per_client(settings, first, count);
}

/// Finds labels that do not fit the loss before the first round, not during the round.
void probe_labels(const DataSettings& settings, const Generator& generator) {
  Vector values(generator.features());
  AddressedRandom random(settings.seed, Purpose::data, 0, 1);
  static_cast<void>(mapped(settings, settings.source, generator.draw(1, 0, random, values)));
}

Dataset open_synthetic(const DataSettings& settings, Client clients, Client first, Client count) {
  refuse_reading_options(settings);
  check(settings.person.empty(), "--unit person with '{}': what is drawn has no column of persons. Use a file.",
        settings.source);
  check(settings.partition == "contiguous",
        "--partition {}: each client of '{}' draws its own records: nothing is dealt out. Leave it out.",
        settings.partition, settings.source);
  const std::shared_ptr<const Generator> generator = make_generator(settings.source, {clients, settings.seed});
  const std::int64_t n = generator->records();
  check(n > 0 || settings.epochs == 1, "epochs={}: '{}' has no end. Give the source n=… or leave --epochs out.",
        settings.epochs, settings.source);
  probe_labels(settings, *generator);
  const PassPlan passes(n > 0 ? std::optional(n) : std::nullopt, settings.batching());
  Dataset dataset;
  dataset.shape.features = generator->features();
  dataset.shape.names = generator->names();
  dataset.constants.emplace();
  dataset.constants->columns = generator->names();
  dataset.constants->features = generator->features();
  dataset.shape.rounds = passes.rounds();
  dataset.is_public = true;
  dataset.digest = sha256(identity_of_generated(settings.source, settings.seed));
  dataset.streams.reserve(static_cast<std::size_t>(count));
  std::shared_ptr<GeneratedSource> source;
  for (Client u = first; u < first + count; ++u) {
    if (!source || settings.batches == DataSettings::Batches::own) {
      source = std::make_shared<GeneratedSource>(GeneratedSource{generator, settings.label_map, settings.seed, passes});
    }
    dataset.streams.push_back(std::make_unique<GeneratedStream>(source, u));
  }
  return dataset;
}

Dataset open_any(const DataSettings& settings, Client clients, Client first, Client count) {
  if (is_synthetic(settings.source)) return open_synthetic(settings, clients, first, count);
  if (is_per_client(settings.source)) return open_per_client(settings, first, count);
  if (is_pipe(settings.source)) return open_common_pipe(settings, clients, first, count);
  return open_common_file(settings, clients, first, count);
}

}  // namespace

DataShape DataShape::joined(const DataShape& other) const {
  if (other.empty) return *this;
  if (empty) return other;
  check<DataError>(
      sparse == other.sparse && (sparse || features == other.features),
      "one client's records have {} features and another's {}: all learn one model. Give all the same columns.",
      features, other.features);
  require_same_names(names, other.names, "one client's records", "another's");
  DataShape both = *this;
  if (both.names.empty()) both.names = other.names;
  both.features = std::max(features, other.features);
  both.rounds = rounds && other.rounds ? std::optional(std::max(*rounds, *other.rounds)) : std::nullopt;
  return both;
}

std::string DataShape::text() const {
  std::string result =
      fmt::format("{} {} {} {} {}", features, sparse ? 1 : 0, empty ? 1 : 0, rounds.value_or(-1), clients);
  for (const std::string& name : names) (result += name_separator) += name;
  return result;
}

DataShape DataShape::parse(const std::string& text) {
  DataShape shape;
  Round rounds = -1;
  std::istringstream input(text);
  input >> shape.features >> shape.sparse >> shape.empty >> rounds >> shape.clients;
  if (rounds >= 0) shape.rounds = rounds;
  input.ignore();
  for (std::string name; std::getline(input, name, name_separator);) shape.names.push_back(name);
  return shape;
}

std::optional<std::int64_t> Dataset::most_records() const {
  std::int64_t most = 0;
  for (const auto& stream : streams) {
    const std::optional<std::int64_t> records = stream->records();
    if (!records) return std::nullopt;
    most = std::max(most, *records);
  }
  return most;
}

void Dataset::plan(const Batching& batching, std::optional<std::int64_t> most_records) {
  for (const auto& stream : streams) stream->plan(batching);
  if (!batching.rounds_of_pass) {
    shape.rounds = PassPlan(most_records, batching).rounds();
    return;
  }
  shape.rounds = batching.epochs * *batching.rounds_of_pass;
  if (of_joined.rounds) of_joined.rounds = std::max(*of_joined.rounds, last_joined + *shape.rounds);
}

void Dataset::append(Dataset joined, Round round) {
  const auto of_each = [](Dataset& part) {
    if (part.fingerprints.empty()) part.fingerprints.assign(part.streams.size(), part.fingerprint);
    part.contents.resize(part.streams.size());  // those of generators
  };
  of_each(*this);
  of_each(joined);
  fingerprints.insert(fingerprints.end(), joined.fingerprints.begin(), joined.fingerprints.end());
  contents.insert(contents.end(), joined.contents.begin(), joined.contents.end());
  for (auto& stream : joined.streams) streams.push_back(std::make_unique<LateStream>(std::move(stream), round));
  if (joined.shape.rounds && *joined.shape.rounds > 0) *joined.shape.rounds += round;
  of_joined = of_joined.joined(joined.shape);
  last_joined = std::max(last_joined, round);
  if (!constants) constants = std::move(joined.constants);
  is_public = is_public && joined.is_public;
  replayable = replayable && joined.replayable;
  if (joined.common) joined_fingerprint += joined.fingerprint;
}

Dataset open_dataset(const DataSettings& settings, Client clients, Client first, Client count) {
  check_settings(settings, clients, first, count);
  Dataset dataset = open_any(settings, clients, first, count);
  dataset.shape.clients = clients;
  return dataset;
}

void check_saves_partition(const DataSettings& settings, const std::string& path) {
  check(!is_synthetic(settings.source) && !is_per_client(settings.source) && !is_pipe(settings.source),
        "'{}' is not dealt out to clients: so there is no partition to save. Leave --save-partition out.",
        settings.source);
  std::error_code ignored;
  check(!std::filesystem::exists(std::filesystem::symlink_status(path, ignored)),
        "--save-partition '{}' exists: it would be lost. Name another file.", path);
}

void save_partition(const DataSettings& settings, Client clients, const std::string& path) {
  DataSettings reading = settings;
  const auto partition = partition_of(settings);
  set_key(reading, *partition);
  const Scan all = scan(settings.source, reading, look_of(reading, *partition));
  const Found found = reading.person.empty() ? all.found : Persons(all.found).found();
  write_owners(path, partition->assign(found, clients, settings.seed));
}

}  // namespace starling
