/// The records that a client uses in one round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "starling/core/columns.hpp"

namespace starling {

/// Features of one record. Dense: `index` is empty and values.size() is the number of features. Sparse: `index` is
/// 0-based and ascending.
struct Row {
  View values;
  std::span<const std::int32_t> index;
  [[nodiscard]] bool sparse() const { return !index.empty() || values.empty(); }
};

/// Records with labels, row after row. Sparse rows are never made dense. A batch may be empty: the client then has no
/// record in this round and takes no step.
class Batch {
 public:
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
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
    count_ = 0;
  }
  /// Makes this batch a view of records first … first + count − 1 of `store`. The records are not copied: `store` must
  /// neither move nor change.
  void show(const Batch& store, std::size_t first, std::size_t count) {
    store_ = &store;
    first_ = first;
    count_ = count;
  }
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
  const Batch* store_ = nullptr;  ///< the batch that holds the records; null for this batch itself
  std::size_t first_ = 0;         ///< index of the first record in the store
  std::size_t count_ = 0;
};

}  // namespace starling
