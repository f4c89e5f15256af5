#include "data/vertical/vertical.hpp"

#include <algorithm>
#include <sstream>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "core/text/per_client.hpp"
#include "data/generators/synthetic.hpp"
#include "spectrum.hpp"
#include "vertical_table.hpp"

namespace starling {

namespace {

constexpr char separator = '\x1f';

void check_settings(const VerticalSettings& settings, std::size_t parties, std::size_t first, std::size_t count) {
  check(settings.batch >= 1, "batch={}: a round uses at least one record. Give --batch 1 or more.", settings.batch);
  check(settings.batch <= std::size_t{std::numeric_limits<std::int32_t>::max()},
        "batch={}: more than can be held. Give a smaller --batch.", settings.batch);
  check(settings.epochs >= 1 && settings.epochs <= 1'000'000,
        "epochs={}: the data is used at least once, and at most a million times. Give --epochs another number.",
        settings.epochs);
  check(parties >= 1, "parties={}: somebody must have columns. Give at least one.", parties);
  check(first <= parties && count <= parties - first, "parties {} … {} of {}: no such block of parties.", first,
        first + count, parties);
}

/// Refuses options on reading or splitting tables, which have no meaning for the spectrum source.
void check_spectrum_options(const VerticalSettings& settings) {
  refuse_reading_options(settings);
  check(settings.columns.empty(), "--columns '{}' with '{}': each receiver has its own columns. Leave it out.",
        settings.columns, settings.source);
  check(settings.label_source.empty(), "a label source '{}' with '{}': it has its own labels. Leave it out.",
        settings.label_source, settings.source);
  check(settings.epochs == 1, "epochs={}: '{}' has no end. Leave --epochs out.", settings.epochs, settings.source);
}

VerticalDataset open_world(const VerticalSettings& settings, std::size_t parties, std::size_t first, std::size_t count,
                           bool targets_known) {
  check_spectrum_options(settings);
  const std::shared_ptr<const SpectrumWorld> world = make_spectrum(settings.source, {parties, settings.seed});
  VerticalDataset dataset;
  dataset.shape.columns.assign(parties, world->columns());
  dataset.shape.names.assign(parties, world->column_names());
  dataset.shape.targets = world->transmitters().size();
  dataset.batch = world->plan().train;
  dataset.testing = world->plan().test;
  dataset.is_public = true;
  dataset.common = true;
  const std::string& paths = world->plan().trajectory;
  dataset.digest =
      sha256(identity_of_generated(settings.source, settings.seed) + (paths.empty() ? "" : sha256_of_file(paths)));
  dataset.stream = open_spectrum(world, first, count, targets_known);
  return dataset;
}

}  // namespace

std::int64_t VerticalStream::group(std::span<const std::int64_t> /*persons*/, std::size_t /*places*/) {
  throw DataError("records that are no table's have no persons. Use files.");
}

const std::vector<std::string>& VerticalStream::ids(std::size_t /*k*/) const {
  throw DataError("records that are no table's have no ids. Use files.");
}

std::optional<Round> VerticalStream::match(std::vector<std::vector<std::size_t>> /*rows*/,
                                           std::optional<std::size_t> /*labels_of*/) {
  throw DataError("records that are no table's have no ids. Use files.");
}

Secret<Vector> VerticalStream::matched_targets() const {
  throw DataError("records that are no table's have no ids. Use files.");
}

void VerticalStream::take_targets(const Secret<Vector>& /*targets*/) {
  throw DataError("records that are no table's have no ids. Use files.");
}

bool VerticalSettings::has_party_files() const {
  return !files.empty() || is_per_client(source);
}

VerticalShape VerticalShape::joined(const VerticalShape& other) const {
  check<FailureError>(columns.size() == other.columns.size() && names.size() == columns.size() &&
                          other.names.size() == columns.size() && targets == other.targets,
                      "ranks speak of {} and {} parties, {} and {} targets", columns.size(), other.columns.size(),
                      targets, other.targets);
  check<DataError>(!records || !other.records || *records == *other.records,
                   "{}: {} records and {}: {}: each record needs both. Give files of the same records, or --id and "
                   "--match private, which take those that all files have.",
                   counted_in, records.value_or(0), other.counted_in, other.records.value_or(0));
  VerticalShape both = *this;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (other.columns[k] == 0) continue;
    check<DataError>(columns[k] == 0 || columns[k] == other.columns[k],
                     "party {} (from 1) has {} columns on one rank and {} on another: a party's columns are the same "
                     "everywhere. Give all ranks the same files.",
                     k + 1, columns[k], other.columns[k]);
    both.columns[k] = other.columns[k];
    both.names[k] = other.names[k];
  }
  both.dropped.resize(std::max(dropped.size(), other.dropped.size()));
  for (std::size_t i = 0; i < other.dropped.size(); ++i) both.dropped[i] = both.dropped[i] || other.dropped[i];
  if (records) return both;
  both.records = other.records;
  both.rounds = other.rounds;
  both.counted_in = other.counted_in;
  return both;
}

std::string VerticalShape::text() const {
  std::string result =
      fmt::format("{} {} {} {}", targets, records.value_or(-1), rounds.value_or(Round{-1}), columns.size());
  for (std::size_t k = 0; k < columns.size(); ++k) result += fmt::format(" {} {}", columns[k], names[k].size());
  result += " dropped:";
  for (const bool there : dropped) result += there ? '1' : '0';
  (result += separator) += counted_in;
  for (const auto& of_party : names) {
    for (const std::string& name : of_party) (result += separator) += name;
  }
  return result;
}

VerticalShape VerticalShape::parse(const std::string& text) {
  VerticalShape shape;
  std::int64_t records = -1;
  Round rounds = -1;
  std::size_t parties = 0;
  const std::size_t end = std::min(text.find(separator), text.size());
  std::istringstream numbers(text.substr(0, end));
  std::istringstream texts(text.substr(std::min(end + 1, text.size())));
  numbers >> shape.targets >> records >> rounds >> parties;
  if (records >= 0) shape.records = records;
  if (rounds >= 0) shape.rounds = rounds;
  std::getline(texts, shape.counted_in, separator);
  for (std::size_t k = 0; k < parties && numbers; ++k) {
    std::size_t count = 0;
    numbers >> shape.columns.emplace_back() >> count;
    std::vector<std::string>& names = shape.names.emplace_back();
    for (std::string name; names.size() < count && std::getline(texts, name, separator);) names.push_back(name);
    check<FailureError>(names.size() == count, "'{}' is no shape of vertical data", text);
  }
  std::string dropped;
  numbers >> dropped;
  check<FailureError>(!numbers.fail() && dropped.starts_with("dropped:"), "'{}' is no shape of vertical data", text);
  for (const char there : dropped.substr(dropped.find(':') + 1)) shape.dropped.push_back(there == '1');
  return shape;
}

VerticalDataset open_vertical(const VerticalSettings& settings, std::size_t parties, std::size_t first,
                              std::size_t count, bool targets_known) {
  check_settings(settings, parties, first, count);
  if (settings.files.empty() && is_spectrum(settings.source)) {
    return open_world(settings, parties, first, count, targets_known);
  }
  VerticalDataset dataset = settings.has_party_files()
                                ? open_party_files(settings, parties, first, count, targets_known)
                                : open_common_table(settings, parties, first, count, targets_known);
  dataset.batch = settings.batch;
  return dataset;
}

}  // namespace starling
