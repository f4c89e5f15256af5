/// Vectors of numbers, and those of a block of clients: one contiguous column per client.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/memory/huge_pages.hpp"

namespace starling {

using Vector = std::vector<double>;
using View = std::span<const double>;
using MutableView = std::span<double>;
/// Whole numbers, such as the counts of records in histograms.
using Counts = std::vector<std::int64_t>;

/// The vectors one behind the other.
[[nodiscard]] inline Vector joined(const std::vector<Vector>& parts) {
  Vector all;
  for (const Vector& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// Column-major matrix, rows() × size(). Column j belongs to the j-th client of a block.
///
/// The class only stores. core/numerics/kernels.hpp does arithmetic per column, so that no result depends on the number
/// of columns of a rank.
class Columns {
 public:
  Columns() = default;
  Columns(std::size_t rows, std::size_t size) : rows_(rows), size_(size), values_(rows * size), data_(values_.data()) {}
  /// Matrix of `size` columns that are all `column`.
  Columns(View column, std::size_t size) : Columns(column.size(), size) {
    for (std::size_t j = 0; j < size; ++j) set(j, column);
  }
  /// Matrix over borrowed storage of rows × size numbers, which must outlive the matrix. A copy has its own storage.
  Columns(std::size_t rows, std::size_t size, double* lent) : rows_(rows), size_(size), data_(lent) {}
  Columns(const Columns& other)
      : rows_(other.rows_),
        size_(other.size_),
        values_(other.flat().begin(), other.flat().end()),
        data_(values_.data()) {}
  Columns& operator=(const Columns& other) {
    if (this == &other) return *this;
    rows_ = other.rows_;
    size_ = other.size_;
    values_.assign(other.flat().begin(), other.flat().end());
    data_ = values_.data();
    return *this;
  }
  Columns(Columns&&) noexcept = default;  // a moved vector keeps its address
  Columns& operator=(Columns&&) noexcept = default;
  ~Columns() = default;

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] View operator[](std::size_t j) const { return {data_ + j * rows_, rows_}; }
  [[nodiscard]] MutableView operator[](std::size_t j) { return {data_ + j * rows_, rows_}; }
  /// Copies rows() numbers to column j.
  void set(std::size_t j, View column) { std::copy(column.begin(), column.end(), (*this)[j].begin()); }
  [[nodiscard]] View flat() const { return {data_, rows_ * size_}; }
  [[nodiscard]] MutableView flat() { return {data_, rows_ * size_}; }

 private:
  std::size_t rows_ = 0;
  std::size_t size_ = 0;
  BlockVector values_;
  double* data_ = nullptr;  ///< data of `values_`, or borrowed
};

}  // namespace starling
