#include "records.hpp"

#include <algorithm>
#include <cmath>

#include "target.hpp"

namespace starling::fuzz {

namespace {

bool finite(const Vector& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

bool ascending(const std::vector<std::int32_t>& index) {
  return std::adjacent_find(index.begin(), index.end(), [](auto a, auto b) { return a >= b; }) == index.end();
}

void require_record(const Record& record, const RecordReader& reader) {
  require(std::isfinite(record.label) && finite(record.values), "finite numbers");
  require(record.sparse == reader.sparse(), "sparse records of a sparse source");
  if (!record.sparse) {
    require(record.values.size() == reader.features(), "a dense record with all features");
    return;
  }
  require(record.index.size() == record.values.size(), "an index for every value");
  require(ascending(record.index), "ascending indices");
  if (record.index.empty()) return;
  require(record.index.front() >= 0, "indices from 0");
  require(static_cast<std::size_t>(record.index.back()) < reader.features(), "indices below the number of features");
}

/// Labels from here to the end.
std::vector<double> labels_of(RecordReader& reader) {
  std::vector<double> labels;
  Record record;
  while (reader.next_label(record)) labels.push_back(record.label);
  return labels;
}

}  // namespace

void read_soundly(const std::string& source, const ReadSettings& settings) {
  const auto reader = open_reader(source, settings);
  const Mark start = reader->mark();
  Mark second = start;
  std::vector<double> labels;
  Record record;
  while (reader->next(record)) {
    require_record(record, *reader);
    require(!reader->where().empty(), "a place");
    labels.push_back(record.label);
    if (labels.size() == 1) second = reader->mark();
  }
  require(!reader->records() || static_cast<std::size_t>(*reader->records()) == labels.size(), "as many records");
  require(reader->names().empty() || reader->names().size() == reader->features(), "a name for every feature");
  reader->seek(start);
  require(labels_of(*reader) == labels, "the same labels from the start");
  if (labels.empty()) return;
  reader->seek(second);
  labels.erase(labels.begin());
  require(labels_of(*reader) == labels, "the same labels from a mark");
}

}  // namespace starling::fuzz
