#include "vertical_table.hpp"

#include "data/column_roles.hpp"
#include "data/fingerprint.hpp"
#include "data/serving/scan.hpp"
#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "starling/core/check.hpp"
#include "starling/core/digest.hpp"
#include "starling/core/per_client.hpp"
#include "starling/core/record_error.hpp"
#include "starling/data/generators/generated_source.hpp"
#include "starling/data/generators/synthetic.hpp"
#include "starling/data/source.hpp"

namespace starling {

namespace {

Passes make_passes(const VerticalSettings& settings, std::int64_t records) {
  return {records, static_cast<std::int64_t>(settings.batch), settings.epochs};
}

void append(Secret<Vector>& values, View added) {
  values.update([added](Vector& all) { all.insert(all.end(), added.begin(), added.end()); });
}

/// The values of some columns of a record, in their order.
void pick(const Record& record, const std::vector<std::size_t>& columns, Vector& values) {
  const Row row = record.row();
  values.clear();
  for (const std::size_t column : columns) {
    if (!row.sparse()) {
      values.push_back(row.values[column]);
      continue;
    }
    const auto place = std::lower_bound(row.index.begin(), row.index.end(), static_cast<std::int32_t>(column));
    const bool stored = place != row.index.end() && static_cast<std::size_t>(*place) == column;
    values.push_back(stored ? row.values[static_cast<std::size_t>(place - row.index.begin())] : 0);
  }
}

/// Takes the ids of a file's records as they come.
class Ids {
 public:
  /// Throws DataError for an id that is empty, and for one that has been there.
  void add(const RecordReader& reader, const std::string& id) {
    check<RecordError>(!id.empty(), "{}: the id is empty (records are matched by it) complete the row", reader.where());
    const auto [place, added] = numbers_.try_emplace(id, texts_.size() + 1);
    if (!added) {
      const std::string why =
          fmt::format("has stood in record {} before (it could mean either) keep one of them", place->second);
      throw RecordError(fmt::format("{}: its id {}", reader.where(), why),
                        fmt::format("{}: id '{}' {}", reader.where(), id, why));
    }
    texts_.push_back(id);
  }
  [[nodiscard]] std::vector<std::string> texts() && { return std::move(texts_); }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;  // of records, from 1
  std::vector<std::string> texts_;
};

/// Features of all records: of sparse ones that do not say so, after a pass over them.
std::size_t count_features(const std::function<std::unique_ptr<RecordReader>()>& open) {
  const auto reader = open();
  Record record;
  while (reader->sparse() && reader->next(record)) {
  }
  return reader->features();
}

void check_records(const std::string& file, std::int64_t records) {
  check<DataError>(records > 0, "{}: no records (nothing can be learned from it) check the file", file);
}

std::vector<std::string> names_of(const std::vector<std::string>& names, const std::vector<std::size_t>& columns) {
  std::vector<std::string> picked;
  for (const std::size_t column : columns) {
    if (!names.empty()) picked.push_back(names[column]);
  }
  return picked;
}

std::vector<std::size_t> all_columns(std::size_t features) {
  std::vector<std::size_t> columns(features);
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  return columns;
}

}  // namespace

std::uint64_t id_digest(const std::string& id) {
  const std::string digits = sha256(id);
  std::uint64_t word = 0;
  std::from_chars(digits.data(), digits.data() + 16, word, 16);
  return word;
}

void align_rows(StoredRows& rows, std::span<const std::uint64_t> order) {
  check<DataError>(rows.ids.size() == order.size(),
                   "{}: {} records and {} labels (each record needs both) give files of the same records", rows.file,
                   rows.ids.size(), order.size());
  std::unordered_map<std::uint64_t, std::size_t> places;
  for (std::size_t i = 0; i < order.size(); ++i) places.emplace(order[i], i);
  constexpr auto nowhere = static_cast<std::size_t>(-1);
  std::vector<std::size_t> result(order.size(), nowhere);
  std::optional<std::size_t> unmatched;
  std::size_t count = 0;
  for (std::size_t row = 0; row < rows.ids.size(); ++row) {
    const auto found = places.find(id_digest(rows.ids[row]));
    if (found == places.end() || result[found->second] != nowhere) {
      if (count++ == 0) unmatched = row;
    } else {
      result[found->second] = row;
    }
  }
  if (unmatched) {
    fail<DataError>("{}: the id of record {} (from 1) is not among the labels'{} ({}) give files of the same records",
                    rows.file, *unmatched + 1, count > 1 ? fmt::format(", nor are {} more", count - 1) : "",
                    "each record needs its columns and a label");
  }
  rows.order = std::move(result);
}

TableStream::TableStream(std::vector<StoredRows> parts, StoredRows labels, const VerticalSettings& settings,
                         std::int64_t records, bool by_id)
    : parts_(std::move(parts)),
      labels_(std::move(labels)),
      batch_(static_cast<std::int64_t>(settings.batch)),
      epochs_(settings.epochs),
      passes_(records, batch_, epochs_),
      by_id_(by_id) {
  inputs_.resize(parts_.size());
}

namespace {

/// The rows of a slice of the common order.
void gather(const StoredRows& rows, const Slice& slice, Secret<Vector>& gathered) {
  gathered.update(
      [&](Vector& values, const Vector& all) {
        values.clear();
        for (std::int64_t i = slice.first; i < slice.first + slice.count; ++i) {
          const auto place = static_cast<std::size_t>(i);
          const View row = View(all).subspan((rows.order.empty() ? place : rows.order[place]) * rows.width, rows.width);
          values.insert(values.end(), row.begin(), row.end());
        }
      },
      rows.values);
}

}  // namespace

void TableStream::load(Round t) {
  check<FailureError>(!by_id_ || aligned_ || parts_.empty(), "round {} before records were aligned by their ids", t);
  const Slice slice = passes_.advance(t);
  learning_ = static_cast<std::size_t>(slice.count);
  for (std::size_t k = 0; k < parts_.size(); ++k) gather(parts_[k], slice, inputs_[k]);
  if (labels_.width > 0) gather(labels_, slice, targets_);
}

void TableStream::align(std::span<const std::uint64_t> order) {
  check<FailureError>(by_id_ || order.empty(), "{} ids to align records by that have none", order.size());
  check<FailureError>(passes_.participations() == 0, "records are aligned before the first round");
  if (!by_id_) return;
  for (StoredRows& rows : parts_) align_rows(rows, order);
  if (labels_.width > 0) align_rows(labels_, order);
  aligned_ = true;
}

void TableStream::settle(const VerticalShape& joined) {
  check<FailureError>(passes_.participations() == 0, "the number of records is settled before the first round");
  if (joined.records) passes_ = Passes(*joined.records, batch_, epochs_);
}

namespace {

// ---- One table for all

/// Opens the same records again and again.
std::function<std::unique_ptr<RecordReader>()> opener_of(const VerticalSettings& settings) {
  if (!is_synthetic(settings.source)) {
    require_regular(settings.source);
    return [settings] { return open_reader(settings.source, settings); };
  }
  refuse_reading_options(settings);
  const std::shared_ptr<const Generator> generator = make_generator(settings.source, {1, settings.seed});
  const std::int64_t records = generator->records();
  check(records > 0, "'{}' has no end (a table does) give it n=…, the number of records", settings.source);
  const auto batch = static_cast<std::int64_t>(settings.batch);
  return [generator, settings, batch, records] {
    return open_generated(generator, settings.source, settings.seed, 0, batch, records);
  };
}

std::vector<std::vector<std::size_t>> columns_of_parties(const VerticalSettings& settings, std::size_t parties,
                                                         std::size_t features, const std::vector<std::string>& names) {
  if (settings.columns.empty() && parties == 1) return {all_columns(features)};
  check(!settings.columns.empty(),
        "'{}' is one table for {} parties (each party has columns of its own) give --columns, such as 0-9/10-22",
        settings.source, parties);
  return parse_column_groups(settings.columns, parties, features, names);
}

/// Reads all records and keeps only the columns of this rank's parties.
std::int64_t read_table(RecordReader& reader, const VerticalSettings& settings,
                        const std::vector<std::vector<std::size_t>>& columns, std::vector<StoredRows>& parts,
                        StoredRows& labels, Fingerprint& fingerprint) {
  std::int64_t records = 0;
  Record record;
  Vector values;
  for (; reader.next(record); ++records) {
    map_label(settings, reader, record);
    fingerprint.add(record);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      pick(record, columns[k], values);
      if (record.left_out) std::fill(values.begin(), values.end(), 0.0);
      append(parts[k].values, values);
    }
    const double label = record.left_out ? no_target : record.label;
    if (labels.width > 0) append(labels.values, View(&label, 1));
  }
  return records;
}

std::string text_of(const std::vector<std::vector<std::size_t>>& columns) {
  std::string text;
  for (const auto& group : columns) {
    for (const std::size_t column : group) text += fmt::format("{},", column);
    text += '/';
  }
  return text;
}

/// Sets the data set's digest, which differs between ranks that read other records or split the records in another way.
void identify(const VerticalSettings& settings, const std::string& dealt, const Fingerprint& read,
              VerticalDataset& dataset) {
  dataset.common = true;
  if (is_synthetic(settings.source)) {
    dataset.is_public = true;
    const std::string identity = identity_of_generated(settings.source, settings.seed);
    dataset.digest = sha256(fmt::format("{} batch={} columns={}", identity, settings.batch, dealt));
  } else {
    dataset.fingerprint = read.text() + sha256(dealt).substr(0, 16);
  }
}

}  // namespace

VerticalDataset open_common_table(const VerticalSettings& settings, std::size_t parties, std::size_t first,
                                  std::size_t count, bool targets_known) {
  check(settings.label_source.empty(),
        "a label source '{}' beside one table (which has its labels) leave it out, or give each party a file",
        settings.label_source);
  const auto open = opener_of(settings);
  const std::size_t features = count_features(open);
  const auto reader = open();
  const auto columns = columns_of_parties(settings, parties, features, reader->names());
  std::vector<std::vector<std::size_t>> own;
  std::vector<StoredRows> parts;
  for (std::size_t k = first; k < first + count; ++k) {
    own.push_back(columns[k]);
    parts.push_back({settings.source, columns[k].size()});
  }
  StoredRows labels{settings.source, targets_known ? std::size_t{1} : std::size_t{0}};
  Fingerprint fingerprint;
  const std::int64_t records = read_table(*reader, settings, own, parts, labels, fingerprint);
  check_records(settings.source, records);
  VerticalDataset dataset;
  for (const auto& group : columns) {
    dataset.shape.columns.push_back(group.size());
    dataset.shape.names.push_back(names_of(reader->names(), group));
  }
  dataset.shape.records = records;
  dataset.shape.rounds = make_passes(settings, records).rounds();
  dataset.shape.counted_in = settings.source;
  identify(settings, text_of(columns), fingerprint, dataset);
  dataset.stream = std::make_unique<TableStream>(std::move(parts), std::move(labels), settings, records, false);
  return dataset;
}

namespace {

// ---- A file for each party

/// Parties are clients 1, 2, …; client 0 is the fusion centre.
Client client_of(std::size_t party) {
  return static_cast<Client>(party + 1);
}

std::string file_of(const VerticalSettings& settings, std::size_t party) {
  return settings.files.empty() ? name_of_client(settings.source, client_of(party)) : settings.files[party];
}

/// Settings for reading a party's file and its file of constants.
VerticalSettings settings_of(const VerticalSettings& settings, std::size_t party) {
  VerticalSettings own = settings;
  own.source = file_of(settings, party);
  for (const ConstantsOption& option : constants_options) {
    own.*option.file = name_of_client(settings.*option.file, client_of(party));
  }
  own.key = settings.id;
  return own;
}

VerticalShape shape_of(const VerticalSettings& settings, const std::string& file, std::size_t parties,
                       std::int64_t records) {
  check_records(file, records);
  VerticalShape shape;
  shape.columns.resize(parties);
  shape.names.resize(parties);
  shape.records = records;
  shape.rounds = make_passes(settings, records).rounds();
  shape.counted_in = file;
  return shape;
}

/// Opens a party's file, whatever kind of labels the file has.
std::unique_ptr<RecordReader> open_party(const VerticalSettings& settings) {
  require_regular(settings.source);
  return open_reader(settings.source, settings);
}

/// Columns of a party's file, whatever their use.
struct FileColumns {
  std::vector<std::string> names;  // none of a file without a header
  std::size_t count = 0;
  bool label = false;  // whether one is called as the labels are

  [[nodiscard]] bool have(const std::string& wanted) const {
    return std::ranges::find(names, wanted) != names.end() || column_number(wanted, count);
  }
};

/// Columns of a dense file.
FileColumns columns_of(const VerticalSettings& settings) {
  VerticalSettings plain = settings;
  static_cast<ReadSettings&>(plain) = ReadSettings{};
  plain.source = settings.source;
  plain.format = settings.format;
  plain.label = settings.label;
  plain.labels = ReadSettings::Labels::optional;
  plain.delimiter = settings.delimiter;
  plain.decimal = settings.decimal;
  plain.header = settings.header;
  plain.go_on_waiting = settings.go_on_waiting;
  const auto reader = open_party(plain);
  FileColumns columns{reader->names(), reader->features(), !reader->label_name().empty()};
  if (columns.label) {
    columns.names.push_back(reader->label_name());
    ++columns.count;
  }
  return columns;
}

/// Keeps the columns of `drop` that the file has. The other columns belong to other parties.
void keep_own_drops(VerticalSettings& settings, VerticalShape& shape) {
  if (settings.drop.empty()) return;
  const FileColumns columns = columns_of(settings);
  std::vector<std::string> own;
  for (std::size_t i = 0; i < settings.drop.size(); ++i) {
    if (!columns.have(settings.drop[i])) continue;
    shape.dropped[i] = true;
    own.push_back(settings.drop[i]);
  }
  settings.drop = std::move(own);
}

/// Checks the columns of a file with ids. Such a file may have ids alone.
void check_party_columns(const VerticalSettings& settings) {
  if (settings.id.empty()) return;
  const FileColumns columns = columns_of(settings);
  if (!columns.have(settings.id)) return;  // which choose_columns will say
  const bool labels = columns.label || settings.labels == ReadSettings::Labels::required;
  check<DataError>(columns.count > (labels ? 2 : 1),
                   "{}: no column beside ids{} (a party without columns knows nothing) give it columns, or leave the "
                   "file out",
                   settings.source, labels ? " and labels" : "");
}

StoredRows read_party(const VerticalSettings& settings, std::size_t parties, std::size_t party,
                      VerticalDataset& dataset) {
  const std::size_t features = count_features([&settings] { return open_party(settings); });
  check<DataError>(features > 0, "{}: no record has a feature (nothing can be learned from it) check the file",
                   settings.source);
  const auto reader = open_party(settings);
  const auto columns = all_columns(features);
  StoredRows rows{settings.source, features};
  Fingerprint fingerprint;
  Ids ids;
  Record record;
  Vector values;
  std::int64_t records = 0;
  for (; reader->next(record); ++records) {
    record.label = 0;  // the label source's matter
    fingerprint.add(record);
    pick(record, columns, values);
    append(rows.values, values);
    if (!settings.id.empty()) ids.add(*reader, record.key);
  }
  rows.ids = std::move(ids).texts();
  VerticalShape shape = shape_of(settings, settings.source, parties, records);
  shape.columns[party] = features;
  shape.names[party] = reader->names();
  dataset.shape = dataset.shape.joined(shape);
  dataset.fingerprint += fingerprint.text();
  return rows;
}

std::string label_file(const VerticalSettings& settings) {
  return settings.label_source.empty() ? file_of(settings, 0) : settings.label_source;
}

/// Settings for reading the label source. A party's own file is read with the party's settings. Any other file is read
/// without options on features.
VerticalSettings label_settings(const VerticalSettings& settings, std::size_t parties) {
  const std::string source = label_file(settings);
  std::size_t party = 0;
  while (party < parties && file_of(settings, party) != source) ++party;
  VerticalSettings own = settings;
  if (party < parties) {
    own = settings_of(settings, party);
  } else {
    static_cast<ReadSettings&>(own) = ReadSettings{};
    own.source = source;
    own.label = settings.label;
    own.id = settings.id;
    own.key = settings.id;
    own.delimiter = settings.delimiter;
    own.decimal = settings.decimal;
    own.header = settings.header;
    own.positive = settings.positive;
    own.go_on_waiting = settings.go_on_waiting;
  }
  own.labels = ReadSettings::Labels::alone;
  return own;
}

StoredRows read_labels(const VerticalSettings& settings, std::size_t parties, VerticalDataset& dataset) {
  const auto reader = open_party(settings);
  StoredRows rows{settings.source};
  Fingerprint fingerprint;
  Ids ids;
  Record record;
  std::int64_t records = 0;
  for (; reader->next_label(record); ++records) {
    map_label(settings, *reader, record);
    record.values.clear();
    record.index.clear();
    fingerprint.add(record);  // with its id
    append(rows.values, View(&record.label, 1));
    if (!settings.id.empty()) ids.add(*reader, record.key);
  }
  rows.ids = std::move(ids).texts();
  dataset.shape = dataset.shape.joined(shape_of(settings, settings.source, parties, records));
  dataset.fingerprint += fingerprint.text();
  dataset.label_fingerprint = fingerprint.text();
  for (const std::string& id : rows.ids) dataset.ids.push_back(id_digest(id));
  return rows;
}

void check_party_options(const VerticalSettings& settings, std::size_t parties) {
  check(settings.files.empty() || settings.files.size() == parties,
        "{} files for {} parties (each party has one) name one for each, in the parties' order", settings.files.size(),
        parties);
  check(settings.columns.empty(), "--columns '{}' beside a file for each party (which has its columns) leave it out",
        settings.columns);
  check(settings.ignore.empty(),
        "--ignore with a file for each party (those without labels could not tell which records go) {}",
        "leave it out, and remove the records from the files");
}

}  // namespace

VerticalDataset open_party_files(const VerticalSettings& settings, std::size_t parties, std::size_t first,
                                 std::size_t count, bool targets_known) {
  check_party_options(settings, parties);
  VerticalDataset dataset;
  dataset.shape.columns.resize(parties);
  dataset.shape.names.resize(parties);
  dataset.shape.dropped.resize(settings.drop.size());
  StoredRows labels{"", 0};
  if (targets_known) {
    VerticalSettings own = label_settings(settings, parties);
    keep_own_drops(own, dataset.shape);
    labels = read_labels(own, parties, dataset);
  }
  std::vector<StoredRows> parts;
  for (std::size_t k = first; k < first + count; ++k) {
    VerticalSettings own = settings_of(settings, k);
    // The label column of the label source is no feature of the party that owns the file.
    const bool has_labels = own.source == label_file(settings);
    own.labels = has_labels ? ReadSettings::Labels::required : ReadSettings::Labels::optional;
    own.positive.clear();
    keep_own_drops(own, dataset.shape);
    check_party_columns(own);
    parts.push_back(read_party(own, parties, k, dataset));
  }
  const std::int64_t records = dataset.shape.records.value_or(0);
  const bool by_id = !settings.id.empty();
  dataset.stream = std::make_unique<TableStream>(std::move(parts), std::move(labels), settings, records, by_id);
  if (by_id && targets_known) dataset.stream->align(dataset.ids);
  return dataset;
}

}  // namespace starling
