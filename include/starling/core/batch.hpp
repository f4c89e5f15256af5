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
  [[nodiscard]] std::size_t size() const { return labels_.size(); }
  [[nodiscard]] bool empty() const { return labels_.empty(); }
  [[nodiscard]] double label(std::size_t i) const { return labels_[i]; }
  [[nodiscard]] Row row(std::size_t i) const {
    const std::size_t from = ends_[i];
    const std::size_t count = ends_[i + 1] - from;
    Row result{View(values_).subspan(from, count), {}};
    if (sparse_) result.index = std::span<const std::int32_t>(index_).subspan(from, count);
    return result;
  }

  void clear() {
    values_.clear();
    index_.clear();
    labels_.clear();
    ends_.assign(1, 0);
  }
  /// Appends a record; all records of a batch are of one kind.
  void add(const Row& row, double label) {
    sparse_ = row.sparse();
    values_.insert(values_.end(), row.values.begin(), row.values.end());
    index_.insert(index_.end(), row.index.begin(), row.index.end());
    labels_.push_back(label);
    ends_.push_back(values_.size());
  }

 private:
  bool sparse_ = false;
  Vector values_;
  std::vector<std::int32_t> index_;
  Vector labels_;
  std::vector<std::size_t> ends_{0};
};

}  // namespace starling
