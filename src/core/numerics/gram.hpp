/// Weighted Gram products, the work of second-order methods: Σ_i w_i x_i x_iᵀ.
#pragma once

#include <cstddef>
#include <vector>

#include "core/columns.hpp"

namespace starling {

/// Entries of the packed upper triangle of a symmetric matrix, row by row: (0,0), (0,1), …, (0,p−1), (1,1), ….
[[nodiscard]] constexpr std::size_t triangle_size(std::size_t order) {
  return order * (order + 1) / 2;
}
/// Index of entry (i, j), i <= j, in the packed triangle.
[[nodiscard]] constexpr std::size_t triangle_at(std::size_t i, std::size_t j, std::size_t order) {
  return i * order - i * (i + 1) / 2 + j;
}

/// Multiplies all but the diagonals by `factor`, of one packed triangle of this order after the other: with √2 the L2
/// norm of a triangle is the matrix's Frobenius norm, with 1/√2 it is undone.
void scale_off_diagonal(MutableView triangles, std::size_t order, double factor);

/// triangle += Σ_i w_i x_i x_iᵀ over n rows of p numbers, row after row in `rows`. `triangle` has triangle_size(p)
/// entries, `weights` n. An entry (j, k) gets, for each panel of 128 rows, the chain of fused multiply-adds of w_i x_ij
/// (rounded) and x_ik over its rows, so its bits depend on its own two columns and the weights alone, on every
/// processor. Flops: n p (p + 1). Allocates only when p is larger than ever before on this thread.
void add_weighted_gram(View rows, std::size_t n, std::size_t p, View weights, MutableView triangle);

/// Instruction sets of the Gram kernels. All give the same bits.
enum class GramKernel { portable, avx2, avx512 };
/// Kernels that this processor supports, the fastest first. add_weighted_gram uses the first one.
[[nodiscard]] std::vector<GramKernel> gram_kernels();
/// The same product with a given kernel, which this processor must support; for tests and measurements.
void add_weighted_gram(View rows, std::size_t n, std::size_t p, View weights, MutableView triangle, GramKernel kernel);

}  // namespace starling
