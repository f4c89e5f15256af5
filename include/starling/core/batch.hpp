/// The records that a client uses in one round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "starling/core/columns.hpp"

namespace starling {

/// One record's features: dense (index empty, values.size() = number of features) or sparse (0-based, ascending).
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
  /// All of them, one after the other.
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
  /// Features of the records from the i-th on, one record's after the other's.
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
  /// Becomes records first … first + count − 1 of `store`, which are not copied: it must stay where it is, as it is.
  void show(const Batch& store, std::size_t first, std::size_t count) {
    store_ = &store;
    first_ = first;
    count_ = count;
  }
  /// Appends a record; all records of a batch are of one kind. Not to one that shows another's.
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
  const Batch* store_ = nullptr;  ///< whose records these are, if not its own
  std::size_t first_ = 0;         ///< the first of them there
  std::size_t count_ = 0;
};

}  // namespace starling
