/// Matrix products whose bits depend on the numbers alone.
///
/// Each entry of a product is one chain of fused multiply-adds in ascending order of the inner index, for every tile,
/// address and instruction set. So a record's scores have the same bits alone, in a batch and on every layout of ranks.
/// (Eigen's products differ between packets and tails, and depend on the sizes of the machine's caches.)
#pragma once

#include <cstddef>

#include "core/memory/workspace.hpp"

namespace starling {

/// A matrix to read: entry (i, j) is data[i · row + j · column].
template <class T>
struct Operand {
  const T* data;
  std::size_t row;
  std::size_t column;
};

/// A matrix whose rows follow each other without gaps.
template <class T>
Operand<T> rows_of(const T* data, std::size_t width) {
  return {data, width, 1};
}

template <class T>
Operand<T> transposed(const Operand<T>& a) {
  return {a.data, a.column, a.row};
}

enum class Into { new_matrix, sum };

template <class T>
class Product {
 public:
  /// C = A B, or C += A B (the chains then begin with C's entries), with A m×k and B k×n. C has n columns, row after
  /// row without gaps, and shares no memory with A and B.
  void operator()(std::size_t m, std::size_t n, std::size_t k, const Operand<T>& a, const Operand<T>& b, T* c,
                  Into into);

 private:
  Workspace<T> left_;
  Workspace<T> right_;
};

extern template class Product<float>;
extern template class Product<double>;

}  // namespace starling
