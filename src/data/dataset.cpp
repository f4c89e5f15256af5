#include "starling/data/dataset.hpp"

#include "streams.hpp"
#include <algorithm>
#include <filesystem>
#include <limits>
#include <string_view>
#include <utility>

#include "starling/core/check.hpp"
#include "starling/core/digest.hpp"
#include "starling/data/partition.hpp"
#include "starling/data/source.hpp"

namespace starling {

namespace {

constexpr std::string_view synthetic_prefix = "synthetic:";

bool is_synthetic(std::string_view source) {
  return source.starts_with(synthetic_prefix);
}

std::unique_ptr<Generator> make_generator(const std::string& source) {
  return generator_table().make(std::string_view(source).substr(synthetic_prefix.size()));
}

/// The loss's own label; `place` is where an unfit one stood.
template <class Place>
double map_label(const DataSettings& settings, double label, Place place) {
  try {
    return settings.label_map(label);
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", place(), error.what()));
  }
}

/// Reads the next record with its label mapped; false at the end.
bool next_mapped(RecordReader& reader, const DataSettings& settings, Record& record) {
  if (!reader.next(record)) return false;
  record.label = map_label(settings, record.label, [&reader] { return reader.where(); });
  return true;
}

/// What the first pass over a file finds.
struct Scan {
  Vector labels;
  std::size_t features = 0;
};

Scan scan(const DataSettings& settings) {
  std::error_code ignored;  // a file that is not there is the reader's to report
  check<DataError>(
      !std::filesystem::exists(settings.source, ignored) || std::filesystem::is_regular_file(settings.source, ignored),
      "'{}' is not a regular file (a source is read twice) copy it into a file", settings.source);
  const auto reader = open_reader(settings.source, settings);
  Scan result;
  Record record;
  while (next_mapped(*reader, settings, record)) result.labels.push_back(record.label);
  result.features = reader->features();
  check<DataError>(!result.labels.empty(), "{}: no records (nothing can be learned from it) check the file",
                   settings.source);
  check<DataError>(result.features > 0, "{}: no record has a feature (nothing can be learned from it) check the file",
                   settings.source);
  return result;
}

/// The second pass: the records of clients first … first + count − 1, each in file order.
std::vector<Secret<Batch>> read_shares(const DataSettings& settings, const std::vector<Client>& owner, Client first,
                                       Client count) {
  std::vector<Secret<Batch>> shares(static_cast<std::size_t>(count));
  const auto reader = open_reader(settings.source, settings);
  Record record;
  std::size_t i = 0;
  for (; i < owner.size() && reader->next(record); ++i) {
    if (owner[i] < first || owner[i] >= first + count) continue;
    record.label = map_label(settings, record.label, [&reader] { return reader->where(); });
    shares[static_cast<std::size_t>(owner[i] - first)].update(
        [&record](Batch& batch) { batch.add(record.row(), record.label); });
  }
  check<DataError>(i == owner.size() && !reader->next(record),
                   "{}: the number of records has changed while it was read (another program writes to it) start again",
                   settings.source);
  return shares;
}

/// Gives back the memory that growing has left over.
void shrink(Secret<Batch>& share) {
  share.update([](Batch& batch) {
    Batch exact = batch;
    batch = std::move(exact);
  });
}

void check_settings(const DataSettings& settings, Client clients, Client first, Client count) {
  check(settings.batch >= 1, "batch={} (a round uses at least one record) give --batch 1 or more", settings.batch);
  check(settings.batch <= std::size_t{std::numeric_limits<std::int32_t>::max()},
        "batch={} (more than can be held) give a smaller --batch", settings.batch);
  check(settings.epochs >= 1, "epochs={} (the data is used at least once) give --epochs 1 or more", settings.epochs);
  check(settings.epochs <= 1'000'000, "epochs={} (more than a million) give fewer", settings.epochs);
  check(clients >= 1 && first >= 0 && count >= 0 && count <= clients - first,
        "clients {} … {} of {} (no such block of clients)", first, first + count - 1, clients);
}

std::vector<std::int64_t> share_sizes(const std::vector<Client>& owner, Client clients) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(clients));
  for (const Client u : owner) ++sizes[static_cast<std::size_t>(u)];
  return sizes;
}

Dataset open_file(const DataSettings& settings, Client clients, Client first, Client count) {
  const auto partition = partition_table().make(settings.partition);
  const Scan found = scan(settings);
  const std::vector<Client> owner = partition->assign(found.labels, clients, settings.seed);
  const std::vector<std::int64_t> sizes = share_sizes(owner, clients);
  const auto passes = [&settings](std::int64_t records) {
    return Passes(records, static_cast<std::int64_t>(settings.batch), settings.epochs);
  };
  Dataset dataset;
  dataset.features = found.features;
  dataset.rounds = passes(*std::max_element(sizes.begin(), sizes.end())).rounds();
  auto shares = read_shares(settings, owner, first, count);
  for (std::size_t j = 0; j < shares.size(); ++j) {
    shrink(shares[j]);
    const std::int64_t size = sizes[static_cast<std::size_t>(first) + j];
    dataset.streams.push_back(std::make_unique<StoredStream>(std::move(shares[j]), passes(size)));
  }
  return dataset;
}

/// Finds labels that do not fit the loss before the first round, and not in it.
void probe_labels(const DataSettings& settings, const Generator& generator) {
  Vector values(generator.features());
  AddressedRandom random(settings.seed, Purpose::data, 0, 1);
  const double label = generator.draw(1, random, values);
  static_cast<void>(map_label(settings, label, [&settings] { return settings.source; }));
}

Dataset open_synthetic(const DataSettings& settings, Client first, Client count) {
  const std::shared_ptr<const Generator> generator = make_generator(settings.source);
  const std::int64_t n = generator->records();
  check(n > 0 || settings.epochs == 1, "epochs={} ('{}' has no end) give the source n=… or leave --epochs out",
        settings.epochs, settings.source);
  probe_labels(settings, *generator);
  const Passes passes(n > 0 ? std::optional(n) : std::nullopt, static_cast<std::int64_t>(settings.batch),
                      settings.epochs);
  Dataset dataset;
  dataset.features = generator->features();
  dataset.rounds = passes.rounds();
  dataset.is_public = true;
  dataset.digest = sha256(fmt::format("{} seed={}", settings.source, settings.seed));
  for (Client u = first; u < first + count; ++u) {
    dataset.streams.push_back(
        std::make_unique<GeneratedStream>(generator, settings.label_map, settings.seed, u, passes));
  }
  return dataset;
}

Batch draw_test_set(const std::string& source, const DataSettings& settings, std::size_t features) {
  const auto generator = make_generator(source);
  check(generator->records() > 0, "'{}' as a test set needs an end (how many records it has) give it n=…", source);
  check<DataError>(generator->features() == features,
                   "{}: {} features (the training data has {}) give it the same number", source, generator->features(),
                   features);
  Batch batch;
  Vector values(features);
  for (Round t = 1; t <= generator->records(); ++t) {
    AddressedRandom random(settings.seed, Purpose::test_data, 0, static_cast<std::uint64_t>(t));
    const double label = generator->draw(t, random, values);
    batch.add({values, {}}, map_label(settings, label, [&source] { return source; }));
  }
  return batch;
}

void check_features(const RecordReader& reader, const Record& record, std::size_t features) {
  const auto needed = record.index.empty() ? std::size_t{0} : static_cast<std::size_t>(record.index.back()) + 1;
  if (record.sparse && needed > features) {
    throw DataError(
        fmt::format("{}: index {} (the training data has {} features) give --dimension {} or remove the feature",
                    reader.where(), needed, features, needed));
  }
  if (!record.sparse && record.values.size() != features) {
    throw DataError(fmt::format("{}: {} features (the training data has {}) give the test set the same columns",
                                reader.where(), record.values.size(), features));
  }
}

Batch read_test_file(const std::string& source, DataSettings settings, std::size_t features) {
  settings.dimension.reset();  // `features` rules, and the message names it
  const auto reader = open_reader(source, settings);
  Batch batch;
  Record record;
  while (next_mapped(*reader, settings, record)) {
    check_features(*reader, record, features);
    batch.add(record.row(), record.label);
  }
  check<DataError>(!batch.empty(), "{}: no records (nothing can be measured on it) check the file", source);
  return batch;
}

}  // namespace

Dataset open_dataset(const DataSettings& settings, Client clients, Client first, Client count) {
  check_settings(settings, clients, first, count);
  if (is_synthetic(settings.source)) return open_synthetic(settings, first, count);
  return open_file(settings, clients, first, count);
}

Batch read_test_set(const std::string& source, const DataSettings& settings, std::size_t features) {
  if (is_synthetic(source)) return draw_test_set(source, settings, features);
  return read_test_file(source, settings, features);
}

}  // namespace starling
