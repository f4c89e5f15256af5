/// The records that a client uses in one round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/columns.hpp"

namespace starling {

/// Features of one record. Dense: `index` is empty and values.size() is the number of features. Sparse: `index` is
/// 0-based and ascending.
struct Row {
  View values;
  std::span<const std::int32_t> index;
  [[nodiscard]] bool sparse() const { return !index.empty() || values.empty(); }
  /// Feature of the k-th value.
  [[nodiscard]] std::size_t feature(std::size_t k) const {
    return index.empty() ? k : static_cast<std::size_t>(index[k]);
  }
  /// Number of features up to that of the last value.
  [[nodiscard]] std::size_t width() const { return values.empty() ? 0 : feature(values.size() - 1) + 1; }
};

/// Records with labels, row after row. Sparse rows are never made dense. A batch may be empty: the client then has no
/// record in this round and takes no step.
///
/// A batch may consist of persons: then each record belongs to a person, whose records are side by side. A person may
/// have no record.
class Batch {
 public:
  /// Records first … first + count − 1 of a batch.
  struct Range {
    std::size_t first = 0;
    std::size_t count = 0;
  };

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// Whether the batch consists of persons.
  [[nodiscard]] bool by_person() const { return !persons_.empty(); }
  /// Number of persons, or of records in a batch that does not consist of persons.
  [[nodiscard]] std::size_t units() const { return by_person() ? persons_.size() : count_; }
  /// Records of person k.
  [[nodiscard]] Range person(std::size_t k) const {
    const std::size_t end = k + 1 < persons_.size() ? persons_[k + 1] : count_;
    return {persons_[k], end - persons_[k]};
  }
  [[nodiscard]] double label(std::size_t i) const { return held().labels_[first_ + i]; }
  /// All labels, in the order of the records.
  [[nodiscard]] View labels() const { return View(held().labels_).subspan(first_, count_); }
  [[nodiscard]] Row row(std::size_t i) const {
    const Batch& rows = held();
    const std::size_t from = rows.ends_[first_ + i];
    const std::size_t count = rows.ends_[first_ + i + 1] - from;
    Row result{View(rows.values_).subspan(from, count), {}};
    if (rows.sparse_) result.index = std::span<const std::int32_t>(rows.index_).subspan(from, count);
    return result;
  }
  [[nodiscard]] bool sparse() const { return held().sparse_; }
  /// Features of record i and the following records, contiguous in memory.
  [[nodiscard]] const double* values_from(std::size_t i) const {
    const Batch& rows = held();
    return rows.values_.data() + rows.ends_[first_ + i];
  }

  void clear() {
    store_ = nullptr;
    first_ = 0;
    values_.clear();
    index_.clear();
    labels_.clear();
    ends_.assign(1, 0);
    persons_.clear();
    count_ = 0;
  }
  /// Makes this batch a view of records first … first + count − 1 of `store`, without persons. The records are not
  /// copied: `store`, or what it is a view of, must neither move nor change.
  void show(const Batch& store, std::size_t first, std::size_t count) {
    first_ = store.first_ + first;
    store_ = &store.held();
    count_ = count;
    persons_.clear();
  }
  /// Makes this batch a view of persons first … first + count − 1 of `store`, which consists of persons. As `show`.
  void show_persons(const Batch& store, std::size_t first, std::size_t count) {
    if (count == 0) return show(store, 0, 0);
    const Range from = store.person(first);
    const Range last = store.person(first + count - 1);
    show(store, from.first, last.first + last.count - from.first);
    for (std::size_t k = first; k < first + count; ++k) persons_.push_back(store.person(k).first - from.first);
  }
  /// Begins a person: the records that are added next are of this person. Not allowed on a view of another batch.
  void begin_person() { persons_.push_back(count_); }
  /// Appends a record. All records of a batch are of one kind (dense or sparse). Not allowed on a view of another
  /// batch.
  void add(const Row& row, double label) {
    sparse_ = row.sparse();
    values_.insert(values_.end(), row.values.begin(), row.values.end());
    index_.insert(index_.end(), row.index.begin(), row.index.end());
    labels_.push_back(label);
    ends_.push_back(values_.size());
    ++count_;
  }

 private:
  [[nodiscard]] const Batch& held() const { return store_ != nullptr ? *store_ : *this; }

  bool sparse_ = false;
  Vector values_;
  std::vector<std::int32_t> index_;
  Vector labels_;
  std::vector<std::size_t> ends_{0};
  std::vector<std::size_t> persons_;  ///< first record of each person; empty without persons
  const Batch* store_ = nullptr;      ///< the batch that holds the records; null for this batch itself
  std::size_t first_ = 0;             ///< index of the first record in the store
  std::size_t count_ = 0;
};

}  // namespace starling
