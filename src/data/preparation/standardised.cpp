// Features, and a label that is a quantity, standardised by public constants.
#include "data/formats/gz_file.hpp"
#include "data/formats/readers.hpp"
#include "data/forwarding_reader.hpp"
#include "data/number.hpp"
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/ranges.h>

#include "starling/core/check.hpp"
#include "starling/core/record_error.hpp"

namespace starling {

namespace {

/// Standardisation constants of a source.
struct ConstantsTable {
  std::vector<Standardisation> features;
  std::optional<Standardisation> label;
};

/// Reads the file as a table whose rows are told by the column `feature`, with the column `mean` and the label `sd`.
std::unique_ptr<RecordReader> open_constants(const std::string& path) {
  ReadSettings settings;
  settings.key = "feature";
  settings.label = std::string("sd");
  settings.header = ReadSettings::Header::yes;
  std::unique_ptr<RecordReader> reader;
  require_readable(path);
  try {
    reader = open_csv(path, settings, Part::records);
  } catch (const UsageError&) {
    // A column is missing: said below.
  }
  check<DataError>(reader != nullptr && reader->names() == std::vector<std::string>{"mean"},
                   "{}: its columns are not feature, mean and sd (--standardise takes these, with a line of their "
                   "names) correct the first line",
                   path);
  return reader;
}

/// The feature that a name, or else a number from 0, means.
std::optional<std::size_t> feature_of(const std::string& key, const std::vector<std::string>& names,
                                      std::size_t features) {
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (names[j] == key) return j;
  }
  const ParsedNumber number = read_number(key);
  const bool whole = number.fault == NumberFault::none && number.value == std::floor(number.value);
  if (!whole || number.value < 0 || number.value >= static_cast<double>(features)) return std::nullopt;
  return static_cast<std::size_t>(number.value);
}

/// First field of the label's line in a table.
std::string label_called(const RecordReader& source) {
  return source.label_name().empty() ? "label" : source.label_name();
}

std::string shown_name(std::size_t j, const std::vector<std::string>& names) {
  return names.empty() ? std::to_string(j) : fmt::format("'{}'", names[j]);
}

/// A few of the features without constants.
std::string listed(const std::vector<std::optional<Standardisation>>& constants,
                   const std::vector<std::string>& names) {
  constexpr std::size_t most = 10;
  std::vector<std::string> missing;
  for (std::size_t j = 0; j < constants.size(); ++j) {
    if (!constants[j]) missing.push_back(shown_name(j, names));
  }
  const std::size_t more = missing.size() > most ? missing.size() - most : 0;
  missing.resize(missing.size() - more);
  return fmt::format("{}{}", fmt::join(missing, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

ConstantsTable read_constants(const std::string& path, const RecordReader& source) {
  const std::vector<std::string> names = source.names();
  const std::string label = label_called(source);
  std::vector<std::optional<Standardisation>> found(source.features());
  ConstantsTable table;
  const auto reader = open_constants(path);
  Record record;
  while (reader->next(record)) {
    const auto j = feature_of(record.key, names, found.size());
    check<DataError>(j || record.key == label,
                     "{}: the source has no feature '{}' (it has {}; features have names, or numbers from 0 as `data "
                     "describe` shows them, and the label is '{}') remove the line",
                     reader->where(), excerpt(record.key), found.size(), excerpt(label));
    std::optional<Standardisation>& constants = j ? found[*j] : table.label;
    check<DataError>(!constants, "{}: {} '{}' stands there twice; remove a line", reader->where(),
                     j ? "feature" : "the label", excerpt(record.key));
    check<DataError>(record.label > 0, "{}: sd={} (values are divided by it: it must be positive) correct it",
                     reader->where(), record.label);
    constants = Standardisation{record.values[0], record.label};
  }
  const std::string missing = listed(found, names);
  check<DataError>(missing.empty(),
                   "{}: no constants for feature {} (every feature needs a line; mean 0 and sd 1 leave one as it is) "
                   "add them",
                   path, missing);
  for (const auto& each : found) table.features.push_back(*each);
  return table;
}

class StandardisedReader final : public ForwardingReader {
 public:
  StandardisedReader(std::unique_ptr<RecordReader> reader, ConstantsTable constants)
      : ForwardingReader(std::move(reader)), constants_(std::move(constants)) {}

  bool next(Record& record) override {
    if (!reader_->next(record)) return false;
    for (std::size_t j = 0; j < constants_.features.size(); ++j) {
      double& value = record.values[j];
      value = constants_.features[j].of(value);
      if (!std::isfinite(value)) throw_not_finite("feature " + shown_name(j, names()));
    }
    take_label(record);
    return true;
  }
  bool next_label(Record& record) override {
    if (!reader_->next_label(record)) return false;
    take_label(record);
    return true;
  }

  [[nodiscard]] PublicConstants constants() const override {
    PublicConstants constants = reader_->constants();
    constants.standardisation = constants_.features;
    constants.label_standardisation = constants_.label;
    return constants;
  }

 private:
  void take_label(Record& record) const {
    if (!constants_.label) return;
    record.label = constants_.label->of(record.label);
    if (!std::isfinite(record.label)) throw_not_finite("the label");
  }
  [[noreturn]] void throw_not_finite(const std::string& what) const {
    throw RecordError(
        fmt::format("{}: {} is beyond the range of double precision when it is standardised (its sd is too small for "
                    "it) see --standardise",
                    where(), what));
  }

  ConstantsTable constants_;
};

std::unique_ptr<RecordReader> standardise(std::unique_ptr<RecordReader> reader, const PublicConstants& constants) {
  if (constants.standardisation.empty()) return reader;
  check<DataError>(
      !reader->sparse(),
      "the records are sparse, and the model's are standardised: their zeros would become numbers. Convert "
      "them to .h5 or .csv.");
  return std::make_unique<StandardisedReader>(
      std::move(reader), ConstantsTable{constants.standardisation, constants.label_standardisation});
}

}  // namespace

std::unique_ptr<RecordReader> standardise(std::unique_ptr<RecordReader> reader, const ReadSettings& settings) {
  if (settings.constants) return standardise(std::move(reader), *settings.constants);
  if (settings.standardise.empty()) return reader;
  check(settings.scale == 1,
        "--scale {} and --standardise (the constants are those of the features as they stand there) leave --scale out",
        settings.scale);
  check(!reader->sparse(),
        "--standardise with sparse records (their zeros would all become numbers) convert them to .h5 or .csv first");
  auto constants = showing_values([&] { return read_constants(settings.standardise, *reader); });
  check(!constants.label || (settings.positive.empty() && settings.ignore.empty()),
        "--standardise {} has a line for the label (--positive and --ignore speak of labels that are classes) leave "
        "the line or these options out",
        settings.standardise);
  return std::make_unique<StandardisedReader>(std::move(reader), std::move(constants));
}

}  // namespace starling
