// A file for each party.
#include <algorithm>
#include <memory>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "core/text/per_client.hpp"
#include "data/file_columns.hpp"
#include "data/fingerprint.hpp"
#include "data/serving/scan.hpp"
#include "table_rows.hpp"
#include "vertical_table.hpp"

namespace starling {

namespace {

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
  if (!settings.constants_of_parties.empty()) own.constants = settings.constants_of_parties[party];
  return own;
}

VerticalShape shape_of(const VerticalSettings& settings, const std::string& file, std::size_t parties,
                       std::int64_t records) {
  check_records(file, records);
  VerticalShape shape;
  shape.columns.resize(parties);
  shape.names.resize(parties);
  if (settings.matched_in_private) return shape;
  shape.records = records;
  shape.rounds = rounds_of_table(settings, records);
  shape.counted_in = file;
  return shape;
}

/// Opens a party's file, whatever kind of labels the file has.
std::unique_ptr<RecordReader> open_party(const VerticalSettings& settings) {
  require_regular(settings.source);
  return open_reader(settings.source, settings);
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

/// The column of persons is no feature of a party whose file has it.
void drop_person(VerticalSettings& settings) {
  if (!settings.person.empty() && columns_of(settings).have(settings.person)) settings.drop.push_back(settings.person);
}

/// The constants of a party's file. Pictures' constants are those of their pixels.
PublicConstants constants_of_file(const RecordReader& reader) {
  const PublicConstants constants = reader.constants();
  return party_part(constants, all_columns(constants.features));
}

/// Checks that a party's file has the columns of its part of a saved model, which other files may lack.
void check_columns_of_model(const VerticalSettings& settings, std::size_t party) {
  if (!settings.constants || settings.constants->columns.empty()) return;
  const FileColumns columns = columns_of(settings);
  std::string missing;
  for (const std::string& name : settings.constants->columns) {
    if (!columns.names.empty() && !columns.have(name))
      missing += fmt::format("{}'{}'", missing.empty() ? "" : ", ", name);
  }
  check<DataError>(
      missing.empty(),
      "{}: columns that the model takes from party {} are missing: {}. Give the parties' files in the order "
      "of the run, with these columns.",
      settings.source, party + 1, missing);
}

StoredRows read_party(const VerticalSettings& settings, std::size_t parties, std::size_t party,
                      VerticalDataset& dataset) {
  const std::size_t features = count_features([&settings] { return open_party(settings); });
  check<DataError>(features > 0, "{}: no record has a feature: nothing can be learned from it. Check the file.",
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
  dataset.constants.push_back(constants_of_file(*reader));
  return rows;
}

std::string label_file(const VerticalSettings& settings) {
  return settings.label_source.empty() ? file_of(settings, 0) : settings.label_source;
}

/// Settings for reading the label source. A party's own file is read with the party's settings. Any other file is read
/// without options on features.
VerticalSettings label_settings(const VerticalSettings& settings, std::size_t parties) {
  const std::string source = label_file(settings);
  const std::optional<std::size_t> party = settings.party_with_labels(parties);
  VerticalSettings own = settings;
  if (party) {
    own = settings_of(settings, *party);
  } else {
    static_cast<ReadSettings&>(own) = ReadSettings{};
    own.source = source;
    own.format = settings.format;
    own.label = settings.label;
    own.label_may_be_beside = settings.label_may_be_beside;
    own.id = settings.id;
    own.key = settings.id;
    own.matched_in_private = settings.matched_in_private;
    own.delimiter = settings.delimiter;
    own.decimal = settings.decimal;
    own.header = settings.header;
    own.positive = settings.positive;
    own.class_labels = settings.class_labels;
    own.labels = settings.labels;
    own.go_on_waiting = settings.go_on_waiting;
  }
  own.constants = settings.constants;
  if (own.labels != ReadSettings::Labels::none) own.labels = ReadSettings::Labels::alone;
  return own;
}

StoredRows read_labels(const VerticalSettings& settings, std::size_t parties, VerticalDataset& dataset) {
  const auto reader = open_party(settings);
  const bool has_labels = settings.labels != ReadSettings::Labels::none;
  StoredRows rows{settings.source};
  Fingerprint fingerprint;
  Ids ids;
  Record record;
  std::int64_t records = 0;
  for (; reader->next_label(record); ++records) {
    if (has_labels) {
      map_label(settings, *reader, record);
    } else {
      record.label = 0;
    }
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
  dataset.label_constants = label_part(reader->constants());
  dataset.id_texts = rows.ids;
  if (settings.matched_in_private) return rows;
  for (const std::string& id : rows.ids) dataset.ids.push_back(id_digest(id));
  return rows;
}

/// Notes the persons of the label source's records, in a pass of its own: a reader tells one column of texts.
void read_persons(VerticalSettings settings, VerticalDataset& dataset) {
  settings.key = settings.person;
  settings.key_option = "--person";
  settings.missing_key = settings.missing_person;
  const auto reader = open_party(settings);
  PersonNumbers numbers;
  Record record;
  while (reader->next_label(record)) numbers.add(record.key, dataset.persons);
  std::string text;
  for (const std::int64_t person : dataset.persons) text += fmt::format("{},", person);
  dataset.fingerprint += sha256(text);
}

/// The label column of the label source is no feature of the party that owns the file.
ReadSettings::Labels labels_of_party(const VerticalSettings& own, bool has_labels) {
  const bool by_name = own.constants && !own.constants->columns.empty();
  if (by_name) return ReadSettings::Labels::none;
  const bool known = own.labels != ReadSettings::Labels::none || !own.label.empty();
  return has_labels && known ? ReadSettings::Labels::required : ReadSettings::Labels::optional;
}

void check_party_options(const VerticalSettings& settings, std::size_t parties) {
  check(settings.files.empty() || settings.files.size() == parties,
        "{} files for {} parties: each party has one. Name one for each, in the parties' order.", settings.files.size(),
        parties);
  check(settings.columns.empty(), "--columns '{}' beside a file for each party: which has its columns. Leave it out.",
        settings.columns);
  check(settings.ignore.empty(),
        "--ignore with a file for each party: those without labels could not tell which records go. {}.",
        "Leave it out, and remove the records from the files");
}

/// Says, where a file of constants that all parties share does not fit one of them, how each has its own.
template <class Read>
auto naming_constants_of_parties(const VerticalSettings& settings, std::size_t parties, Read read) {
  const auto remedy = [&](const std::string& message) {
    for (const ConstantsOption& option : constants_options) {
      const std::string& file = settings.*option.file;
      if (parties < 2 || file.empty() || is_per_client(file) || message.find(file) == std::string::npos) continue;
      return fmt::format(
          "{} Where parties have other columns, each has a file of its own: {{client}} in the name after {} stands for "
          "the party's number, from 1.",
          message.ends_with('.') ? "" : ".", option.name);
    }
    return std::string();
  };
  try {
    return read();
  } catch (const DataError& error) {
    if (const std::string more = remedy(error.what()); !more.empty()) throw DataError(error.what() + more);
    throw;
  } catch (const UsageError& error) {
    if (const std::string more = remedy(error.what()); !more.empty()) throw UsageError(error.what() + more);
    throw;
  }
}

}  // namespace

std::optional<std::size_t> VerticalSettings::party_with_labels(std::size_t parties) const {
  const std::string wanted = label_file(*this);
  for (std::size_t party = 0; party < parties; ++party) {
    if (file_of(*this, party) == wanted) return party;
  }
  return std::nullopt;
}

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
    if (!settings.person.empty()) read_persons(own, dataset);
    drop_person(own);
    labels = naming_constants_of_parties(settings, parties, [&] { return read_labels(own, parties, dataset); });
  }
  std::vector<StoredRows> parts;
  for (std::size_t k = first; k < first + count; ++k) {
    VerticalSettings own = settings_of(settings, k);
    own.labels = labels_of_party(own, own.source == label_file(settings));
    own.positive.clear();
    own.class_labels.clear();
    keep_own_drops(own, dataset.shape);
    drop_person(own);
    check_columns_of_model(own, k);
    parts.push_back(
        naming_constants_of_parties(settings, parties, [&] { return read_party(own, parties, k, dataset); }));
  }
  const std::int64_t records = dataset.shape.records.value_or(0);
  const bool by_id = !settings.id.empty();
  dataset.stream = std::make_unique<TableStream>(std::move(parts), std::move(labels), settings, records, by_id);
  if (by_id && targets_known && !settings.matched_in_private) dataset.stream->align(dataset.ids);
  return dataset;
}

}  // namespace starling
