// Tables in memory, whose rows are aligned by ids.
#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "vertical_table.hpp"

namespace starling {

std::uint64_t id_digest(const std::string& id) {
  const std::string digits = sha256(id);
  std::uint64_t word = 0;
  std::from_chars(digits.data(), digits.data() + 16, word, 16);
  return word;
}

void align_rows(StoredRows& rows, std::span<const std::uint64_t> order) {
  check<DataError>(rows.ids.size() == order.size(),
                   "{}: {} records and {} labels: each record needs both. Give files of the same records.", rows.file,
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
    fail<DataError>(
        "{}: the id of record {} (from 1) is not among the labels'{}: {}. Give files of the same "
        "records, or --match private with --id, which takes those that all files have.",
        rows.file, *unmatched + 1, count > 1 ? fmt::format(", nor are {} more", count - 1) : "",
        "each record needs its columns and a label");
  }
  rows.order = std::move(result);
}

TableStream::TableStream(std::vector<StoredRows> parts, StoredRows labels, const VerticalSettings& settings,
                         std::int64_t records, bool by_id)
    : parts_(std::move(parts)),
      labels_(std::move(labels)),
      batching_(settings.batching()),
      passes_(records, batching_),
      records_(records),
      by_id_(by_id) {
  inputs_.resize(parts_.size());
}

namespace {

/// A place that holds no record.
constexpr auto no_record = static_cast<std::size_t>(-1);

/// The rows of a slice of the common order, or of `places` in it; `empty` stands where there is no record.
void gather(const StoredRows& rows, const Slice& slice, const std::vector<std::size_t>& places, double empty,
            Secret<Vector>& gathered) {
  gathered.update(
      [&](Vector& values, const Vector& all) {
        values.clear();
        for (std::int64_t i = slice.first; i < slice.first + slice.count; ++i) {
          const std::size_t place = places.empty() ? static_cast<std::size_t>(i) : places[static_cast<std::size_t>(i)];
          if (place == no_record) {
            values.insert(values.end(), rows.width, empty);
            continue;
          }
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
  for (std::size_t k = 0; k < parts_.size(); ++k) gather(parts_[k], slice, places_, 0, inputs_[k]);
  if (labels_.width > 0) gather(labels_, slice, places_, no_target, targets_);
  if (places_.empty()) return;
  records_of_persons_.clear();
  for (std::int64_t i = slice.first; i < slice.first + slice.count; i += static_cast<std::int64_t>(places_of_person_)) {
    const auto first = places_.begin() + i;
    const auto last = first + static_cast<std::ptrdiff_t>(places_of_person_);
    records_of_persons_.push_back(places_of_person_ - static_cast<std::size_t>(std::count(first, last, no_record)));
  }
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
  if (!joined.records) return;
  records_ = *joined.records;
  passes_ = Passes(records_, batching_);
}

std::optional<Round> TableStream::match(std::vector<std::vector<std::size_t>> rows,
                                        std::optional<std::size_t> labels_of) {
  check<FailureError>(passes_.participations() == 0 && rows.size() == parts_.size(),
                      "records are matched before the first round, at all parties");
  if (labels_of) labels_.order = rows[*labels_of];
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    records_ = static_cast<std::int64_t>(rows[k].size());
    parts_[k].order = std::move(rows[k]);
  }
  passes_ = Passes(records_, batching_);
  aligned_ = true;
  return passes_.rounds();
}

Secret<Vector> TableStream::matched_targets() const {
  Secret<Vector> targets;
  gather(labels_, {0, 0, static_cast<std::int64_t>(labels_.order.size())}, {}, no_target, targets);
  return targets;
}

void TableStream::take_targets(const Secret<Vector>& targets) {
  labels_ = StoredRows{"the labels", 1};
  labels_.values = targets;
}

std::int64_t TableStream::group(std::span<const std::int64_t> persons, std::size_t places) {
  check<FailureError>(passes_.participations() == 0, "records are grouped before the first round");
  check<DataError>(static_cast<std::int64_t>(persons.size()) == records_,
                   "{} records with a person, and {} records. Give files of the same records.", persons.size(),
                   records_);
  const auto number_of = [](std::int64_t person) { return person < 0 ? -1 - person : person; };
  std::int64_t count = 0;
  for (const std::int64_t person : persons) count = std::max(count, 1 + number_of(person));
  std::vector<std::size_t> taken(static_cast<std::size_t>(count), 0);
  places_of_person_ = places;
  places_.assign(taken.size() * places, no_record);
  for (std::size_t i = 0; i < persons.size(); ++i) {
    const auto person = static_cast<std::size_t>(number_of(persons[i]));
    if (persons[i] >= 0 && taken[person] < places) places_[person * places + taken[person]++] = i;
  }
  passes_ = Passes(count * static_cast<std::int64_t>(places), {batching_.batch * places, batching_.epochs});
  return count;
}

}  // namespace starling
