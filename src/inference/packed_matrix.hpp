/// Packed triangles as Eigen matrices. Internal to the inference module.
#pragma once

#include <Eigen/Dense>

#include "starling/core/columns.hpp"

namespace starling {

/// The symmetric matrix of a packed upper triangle, row by row.
inline Eigen::MatrixXd symmetric_matrix(View triangle, Eigen::Index order) {
  Eigen::MatrixXd matrix(order, order);
  std::size_t at = 0;
  for (Eigen::Index i = 0; i < order; ++i) {
    for (Eigen::Index j = i; j < order; ++j) matrix(i, j) = matrix(j, i) = triangle[at++];
  }
  return matrix;
}

}  // namespace starling
