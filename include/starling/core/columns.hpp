/// The vectors of a block of clients: one contiguous column per client.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "starling/core/huge_pages.hpp"

namespace starling {

using Vector = std::vector<double>;
using View = std::span<const double>;
using MutableView = std::span<double>;

/// Column-major matrix, rows() × size(); column j belongs to the j-th client of a block.
///
/// Nothing but storage: arithmetic is done per column by core/kernels.hpp, so that no result depends on how many
/// columns a rank happens to hold.
class Columns {
 public:
  Columns() = default;
  Columns(std::size_t rows, std::size_t size) : rows_(rows), size_(size), values_(rows * size) {}

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] View operator[](std::size_t j) const { return View(values_).subspan(j * rows_, rows_); }
  [[nodiscard]] MutableView operator[](std::size_t j) { return MutableView(values_).subspan(j * rows_, rows_); }
  [[nodiscard]] View flat() const { return values_; }
  [[nodiscard]] MutableView flat() { return values_; }

 private:
  std::size_t rows_ = 0;
  std::size_t size_ = 0;
  BlockVector values_;
};

}  // namespace starling
