#include "scan.hpp"

#include <limits>
#include <numeric>
#include <unordered_map>

#include "core/check.hpp"
#include "core/record_error.hpp"
#include "data/cells/keys.hpp"
#include "data/cells/number.hpp"
#include "data/faults.hpp"
#include "data/fingerprint.hpp"

namespace starling {

namespace {

/// Numbers the values of the key column as they come, and at the end in ascending order.
class Keys {
 public:
  /// With MissingKey::drop each missing value is one of its own: nobody's record has a place like a person's.
  explicit Keys(ReadSettings::MissingKey missing) : each_missing_(missing == ReadSettings::MissingKey::drop) {}

  void add(const std::string& value) {
    const auto next = static_cast<std::int32_t>(numbers_.size()) + missing_;
    const bool is_own = each_missing_ && value.empty();
    missing_ += is_own ? 1 : 0;
    keys_.push_back(is_own ? next : numbers_.try_emplace(value, next).first->second);
  }
  void move_to(Found& found) {
    std::vector<std::string> values(numbers_.size() + static_cast<std::size_t>(missing_));
    for (const auto& [value, number] : numbers_) values[static_cast<std::size_t>(number)] = value;
    std::vector<std::int32_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    const auto is_number = [&](const std::string& text) {
      return (each_missing_ && text.empty()) || read_number(text).fault == NumberFault::none;
    };
    const bool numeric = std::all_of(values.begin(), values.end(), is_number);
    std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
      const std::string& first = values[static_cast<std::size_t>(a)];
      const std::string& second = values[static_cast<std::size_t>(b)];
      if (first.empty() || second.empty()) return first.size() < second.size();
      return numeric ? precedes_as_number(first, second) : first < second;
    });
    std::vector<std::int32_t> rank(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
      rank[static_cast<std::size_t>(order[k])] = static_cast<std::int32_t>(k);
      found.values.push_back(values[static_cast<std::size_t>(order[k])]);
    }
    for (std::int32_t& key : keys_) key = rank[static_cast<std::size_t>(key)];
    found.keys = std::move(keys_);
  }

 private:
  bool each_missing_;
  std::int32_t missing_ = 0;
  std::unordered_map<std::string, std::int32_t> numbers_;
  std::vector<std::int32_t> keys_;
};

/// Stands for all labels that --ignore names, where records are dealt by their labels.
constexpr double of_left_out = -std::numeric_limits<double>::infinity();

/// The pass itself, over all of each record or, where the format finds records by number, over labels and keys alone.
void read_through(RecordReader& reader, const DataSettings& settings, Partition::Look look, Scan& result) {
  const bool direct = reader.records().has_value();
  RecordIndex index = direct ? RecordIndex() : RecordIndex(reader.mark());
  Fingerprint fingerprint;
  Keys keys(settings.missing_key);
  Record record;
  Faults faults;
  std::int64_t& count = result.found.records;
  while (true) {
    const Mark mark = index.due(count) ? reader.mark() : Mark{};
    std::uint64_t as_read = 0;
    const auto read = faults.read(reader, [&] {
      if (!(direct ? reader.next_label(record) : reader.next(record))) return false;
      if (direct) record.values.clear();
      as_read = fingerprint_of(record);
      map_label(settings, reader, record);
      return true;
    });
    if (read == Faults::Read::end) break;
    if (read == Faults::Read::fault) continue;
    index.note(count, mark);
    if (!direct) static_cast<void>(index.digests().same(count, as_read));  // it is read first
    fingerprint.add(as_read);
    result.entries += static_cast<std::int64_t>(record.values.size());
    if (look == Partition::Look::labels) result.found.labels.push_back(record.left_out ? of_left_out : record.label);
    if (look == Partition::Look::keys) keys.add(record.key);
    ++count;
  }
  faults.throw_all();
  if (look == Partition::Look::keys) keys.move_to(result.found);
  result.index = std::make_shared<RecordIndex>(std::move(index));
  fingerprint.add(reader.features());
  result.fingerprint = fingerprint.text();
}

/// Fingerprint of a source whose records are not all read.
std::string outer_fingerprint(RecordReader& reader, std::int64_t records) {
  Fingerprint fingerprint;
  fingerprint.add(static_cast<std::uint64_t>(records));
  fingerprint.add(reader.features());
  Record first;
  if (reader.next(first)) fingerprint.add(first);
  return fingerprint.text();
}

}  // namespace

void map_label(const DataSettings& settings, const RecordReader& reader, Record& record) {
  if (record.left_out) return;
  try {
    record.label = settings.label_map(record.label);
  } catch (const RecordError& error) {
    throw RecordError(fmt::format("{}: {}", reader.where(), error.what()),
                      fmt::format("{}: {}", reader.where(), error.shown()));
  } catch (const DataError& error) {
    throw RecordError(fmt::format("{}: its label does not fit --loss. Correct the row.", reader.where()),
                      fmt::format("{}: {}", reader.where(), error.what()));
  }
}

void NumberedReader::read(std::int64_t number, Record& record) {
  if (number != next_) {
    const RecordIndex::Entry known = index_->before(number);
    if (number < next_ || known.record > next_) {
      reader_->seek(known.mark);
      next_ = known.record;
    }
  }
  do {
    if (!reader_->next(record)) {
      fail<DataError>(
          "{}: the number of records has changed while it was read: another program writes to it. Start again.",
          reader_->where());
    }
  } while (next_++ != number);
  check<DataError>(index_->digests().same(number, fingerprint_of(record)),
                   "{}: the record is not what it was at first: another program has changed the file, and a replay "
                   "would count as the same records. Put the file back as it was, and go on with --resume.",
                   reader_->where());
}

void NumberedReader::go_to(const RecordIndex::Entry& place) {
  if (place.record == next_) return;
  reader_->seek(place.mark);
  next_ = place.record;
}

Scan scan(const std::string& source, const DataSettings& settings, Partition::Look look) {
  const auto reader = open_reader(source, settings);
  Scan result;
  const auto known = reader->records();
  if (known && look == Partition::Look::count) {
    result.found.records = *known;
    result.index = std::make_shared<RecordIndex>();
    result.fingerprint = outer_fingerprint(*reader, *known);
  } else {
    read_through(*reader, settings, look, result);
  }
  result.features = reader->features();
  result.sparse = reader->sparse();
  result.names = reader->names();
  result.constants = reader->constants();
  if (known) result.entries = *known * static_cast<std::int64_t>(result.features);
  check<DataError>(result.found.records > 0, "{}: no records: nothing can be learned from it. Check the file.", source);
  check<DataError>(result.features > 0, "{}: no record has a feature: nothing can be learned from it. Check the file.",
                   source);
  return result;
}

}  // namespace starling
