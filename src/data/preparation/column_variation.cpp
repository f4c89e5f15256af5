#include "data/preparation/column_variation.hpp"

namespace starling {

void ColumnVariation::add(const Row& row) {
  ++records_;
  for (std::size_t j = 0; j < row.values.size(); ++j) {
    const std::size_t at = row.feature(j);
    const double value = row.values[j];
    if (value == 0) continue;
    if (at >= columns_.size()) columns_.resize(at + 1);
    Column& column = columns_[at];
    if (column.nonzeros++ == 0) column.value = value;
    column.varies = column.varies || value != column.value;
  }
}

std::vector<std::size_t> ColumnVariation::constant(std::size_t features) const {
  std::vector<std::size_t> found;
  for (std::size_t j = 0; j < features && records_ > 1; ++j) {
    const Column column = j < columns_.size() ? columns_[j] : Column{};
    if (!column.varies && (column.nonzeros == 0 || column.nonzeros == records_)) found.push_back(j);
  }
  return found;
}

}  // namespace starling
