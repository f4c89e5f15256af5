// Tables in memory, whose rows are aligned by ids.
#include "vertical_table.hpp"
#include <charconv>
#include <optional>
#include <unordered_map>

#include "starling/core/check.hpp"
#include "starling/core/digest.hpp"

namespace starling {

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

}  // namespace starling
