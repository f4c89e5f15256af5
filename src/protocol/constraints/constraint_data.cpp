#include "constraint_data.hpp"

#include <algorithm>
#include <cmath>

#include "core/numerics/kernels.hpp"

namespace starling {

namespace {

constexpr double largest_clippable_norm = 1e150;
/// A smaller sum of squares may have lost digits to underflow.
constexpr double smallest_sum_of_squares = 1e-280;

/// Value of a record's feature.
double feature(const Row& row, std::int32_t column) {
  if (!row.sparse()) return row.values[static_cast<std::size_t>(column)];
  const auto at = std::lower_bound(row.index.begin(), row.index.end(), column);
  if (at == row.index.end() || *at != column) return 0;
  return row.values[static_cast<std::size_t>(at - row.index.begin())];
}

double score_of(const DataConstraint& constraint, const Row& row, View x) {
  return lane_sum(constraint.columns.size(), [&](std::size_t i) {
    const std::int32_t column = constraint.columns[i];
    return x[static_cast<std::size_t>(column)] * feature(row, column);
  });
}

/// An upper bound of the norm in which a record is clipped.
double norm_of(View vector, ClipKind kind) {
  const double squares = kind == ClipKind::l2 ? dot(vector, vector) : 0;
  return squares >= smallest_sum_of_squares ? std::sqrt(squares) : norm1(vector);
}

}  // namespace

bool add_clipped(View vector, const Clip& clip, MutableView sum) {
  const double norm = norm_of(vector, clip.kind);
  if (!(norm <= largest_clippable_norm)) return false;
  const bool clips = clip.kind != ClipKind::none && norm > clip.bound;
  axpy(clips ? clip.bound / norm : 1, vector, sum);
  return true;
}

std::size_t columns_of(std::span<const DataConstraint> constraints) {
  std::size_t count = 0;
  for (const DataConstraint& constraint : constraints) count += constraint.columns.size();
  return count;
}

void sum_constraint_vectors(std::span<const DataConstraint> constraints, const Batch& batch, const Clip& clip,
                            Vector& sum) {
  const std::size_t entries = columns_of(constraints);
  sum.assign(entries, 0.0);
  Vector record(entries);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    std::size_t at = 0;
    for (const DataConstraint& constraint : constraints) {
      for (const std::int32_t column : constraint.columns) record[at++] = feature(batch.row(i), column);
    }
    add_clipped(record, clip, sum);
  }
}

void sum_constraint_scores(std::span<const DataConstraint> constraints, const Batch& batch, const Clip& clip, View x,
                           Vector& sum) {
  sum.assign(constraints.size(), 0.0);
  Vector record(constraints.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    for (std::size_t j = 0; j < constraints.size(); ++j) record[j] = score_of(constraints[j], batch.row(i), x);
    add_clipped(record, clip, sum);
  }
}

void add_constraint_gradient(std::span<const DataConstraint> constraints, const Row& row, View weights,
                             MutableView gradient) {
  for (std::size_t j = 0; j < constraints.size(); ++j) {
    for (const std::int32_t column : constraints[j].columns) {
      gradient[static_cast<std::size_t>(column)] += weights[j] * feature(row, column);
    }
  }
}

void add_constraint_rows(const ConstraintSet& set, const Batch& batch, std::size_t m, std::span<ConstraintRow> rows) {
  for (std::size_t j = 0; j < set.fixed.size(); ++j) {
    axpy(1, set.fixed[j].values, set.fixed[j].index, rows[j].a);
    rows[j].bound += set.fixed[j].bound;
  }
  const double share = 1 / static_cast<double>(m);
  for (std::size_t j = 0; j < set.data.size(); ++j) {
    ConstraintRow& row = rows[set.fixed.size() + j];
    for (std::size_t i = 0; i < batch.size(); ++i) {
      add_constraint_gradient({&set.data[j], 1}, batch.row(i), View(&share, 1), row.a);
    }
    row.bound += set.data[j].bound;
  }
}

}  // namespace starling
