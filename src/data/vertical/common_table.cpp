// One table, whose columns are dealt out to the parties.
#include <algorithm>
#include <functional>
#include <memory>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "data/file_columns.hpp"
#include "data/fingerprint.hpp"
#include "data/generators/synthetic.hpp"
#include "data/serving/scan.hpp"
#include "table_rows.hpp"
#include "vertical_table.hpp"

namespace starling {

namespace {

/// Opens the same records again and again.
std::function<std::unique_ptr<RecordReader>()> opener_of(const VerticalSettings& settings) {
  if (!is_synthetic(settings.source)) {
    require_regular(settings.source);
    return [settings] { return open_reader(settings.source, settings); };
  }
  refuse_reading_options(settings);
  check(settings.person.empty(), "--unit person with '{}': what is drawn has no column of persons. Use a file.",
        settings.source);
  const std::shared_ptr<const Generator> generator = make_generator(settings.source, {1, settings.seed});
  const std::int64_t records = generator->records();
  check(records > 0, "'{}' has no end: a table does. Give it n=…, the number of records.", settings.source);
  const auto batch = static_cast<std::int64_t>(settings.batch);
  return [generator, settings, batch, records] {
    return open_generated(generator, settings.source, settings.seed, 0, batch, records);
  };
}

std::vector<std::vector<std::size_t>> columns_of_parties(const VerticalSettings& settings, std::size_t parties,
                                                         std::size_t features, const std::vector<std::string>& names) {
  check<DataError>(features > 0, "{}: no record has a feature: nothing can be learned from it. Check the file.",
                   settings.source);
  if (settings.columns.empty() && parties == 1) return {all_columns(features)};
  check(!settings.columns.empty(),
        "'{}' is one table for {} parties: each party has columns of its own. Give --columns, such as 0-9/10-22.",
        settings.source, parties);
  return parse_column_groups(settings.columns, parties, features, names);
}

/// Reads all records and keeps only the columns of this rank's parties.
std::int64_t read_table(RecordReader& reader, const VerticalSettings& settings,
                        const std::vector<std::vector<std::size_t>>& columns, std::vector<StoredRows>& parts,
                        StoredRows& labels, Fingerprint& fingerprint, std::vector<std::int64_t>& persons) {
  PersonNumbers numbers;
  std::int64_t records = 0;
  Record record;
  Vector values;
  for (; reader.next(record); ++records) {
    map_label(settings, reader, record);
    fingerprint.add(record);
    if (!settings.person.empty()) numbers.add(record.key, persons);
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

/// Notes how each hosted party's columns, `own`, and the labels are prepared.
void note_constants(const PublicConstants& table, const std::vector<std::vector<std::size_t>>& own,
                    VerticalDataset& dataset) {
  dataset.columns_are_features =
      table.description == ReadSettings::Features::raw && table.made_features().size() == table.features;
  if (!dataset.columns_are_features) return;
  dataset.label_constants = label_part(table);
  for (const auto& features : own) {
    dataset.constants.push_back(party_part(table, features));
    if (table.columns.empty()) dataset.places.push_back(features);
  }
  if (table.columns.empty()) dataset.table_features = table.features;
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

VerticalDataset open_common_table(VerticalSettings settings, std::size_t parties, std::size_t first, std::size_t count,
                                  bool targets_known) {
  if (!settings.person.empty()) {
    settings.key = settings.person;
    settings.key_option = "--person";
    settings.missing_key = settings.missing_person;
  }
  check(settings.label_source.empty(),
        "a label source '{}' beside one table: which has its labels. Leave it out, or give each party a file.",
        settings.label_source);
  if (settings.may_lack_drops) keep_roles_in_file(settings);
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
  VerticalDataset dataset;
  const std::int64_t records = read_table(*reader, settings, own, parts, labels, fingerprint, dataset.persons);
  check_records(settings.source, records);
  for (const auto& group : columns) {
    dataset.shape.columns.push_back(group.size());
    dataset.shape.names.push_back(names_of(reader->names(), group));
  }
  dataset.shape.records = records;
  dataset.shape.rounds = rounds_of_table(settings, records);
  dataset.shape.counted_in = settings.source;
  note_constants(reader->constants(), own, dataset);
  identify(settings, text_of(columns), fingerprint, dataset);
  dataset.stream = std::make_unique<TableStream>(std::move(parts), std::move(labels), settings, records, false);
  return dataset;
}

}  // namespace starling
