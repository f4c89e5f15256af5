#include "core/check.hpp"
#include "core/record_error.hpp"
#include "data/file_columns.hpp"
#include "data/generators/generators.hpp"
#include "data/serving/dataset.hpp"
#include "data/serving/partition.hpp"
#include "data/source.hpp"
#include "scan.hpp"

namespace starling {

namespace {

Batch draw_test_set(const std::string& source, const DataSettings& settings, const DataShape& training) {
  const std::size_t features = training.features;
  check(settings.scale == 1, "--scale {} with the test set '{}': what is drawn is not scaled. Use a file.",
        settings.scale, source);
  check(!settings.scales_columns(), "{} with the test set '{}': what is drawn is not scaled. Use a file.",
        settings.ranges.empty() ? "--standardise" : "--ranges", source);
  check(settings.features == ReadSettings::Features::raw,
        "--features with the test set '{}': what is drawn is no picture. Use a file.", source);
  const auto generator = make_generator(source, {1, settings.seed, training.clients});
  check(generator->records() > 0, "'{}' as a test set has no end: its number of records must be known. Give it n=…",
        source);
  check<DataError>(generator->features() == features,
                   "{}: {} features: the training data has {}. Give it the same number.", source, generator->features(),
                   features);
  Batch batch;
  Vector values(features);
  for (Round t = 1; t <= generator->records(); ++t) {
    AddressedRandom random(settings.seed, Purpose::test_data, 0, static_cast<std::uint64_t>(t));
    const double label = generator->draw(t, 0, random, values);
    batch.add({values, {}}, mapped(settings, source, label));
  }
  return batch;
}

void check_features(const RecordReader& reader, const Record& record, std::size_t features) {
  const std::size_t needed = record.row().width();
  if (record.sparse && needed > features) {
    throw DataError(
        fmt::format("{}: index {}: the training data has {} features. Give --dimension {} or remove the feature.",
                    reader.where(), needed, features, needed));
  }
  if (!record.sparse && record.values.size() != features) {
    throw DataError(fmt::format("{}: {} features: the training data has {}. Give the test set the same columns.",
                                reader.where(), record.values.size(), features));
  }
}

Batch read_test_file(const std::string& source, DataSettings settings, const DataShape& training) {
  require_regular(source);
  // The training data rule, and the message names it; pictures are of as many pixels as there.
  if (settings.features == ReadSettings::Features::raw) settings.dimension.reset();
  settings.source = source;
  settings.key = partition_table().make(settings.partition)->key();
  if (!settings.person.empty()) settings.key = settings.person;
  keep_roles_in_file(settings);
  const auto reader = without_left_out(open_reader(source, settings));
  require_same_names(training.names, reader->names(), "the training data", source);
  Batch batch;
  Record record;
  while (reader->next(record)) {
    map_label(settings, *reader, record);
    check_features(*reader, record, training.features);
    batch.add(record.row(), record.label);
  }
  check<DataError>(!batch.empty(), "{}: no records: nothing can be measured on it. Check the file.", source);
  return batch;
}

}  // namespace

Batch read_test_set(const std::string& source, const DataSettings& settings, const DataShape& training) {
  if (is_synthetic(source)) return draw_test_set(source, settings, training);
  return showing_values([&] { return read_test_file(source, settings, training); });
}

}  // namespace starling
