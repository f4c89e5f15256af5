/// What a batch says of the constraints that depend on records.
#pragma once

#include <span>

#include "starling/protocol/constraint.hpp"

namespace starling {

/// Σ_i clip(a_i) over the batch's records, a_i being the values of the constraints' columns, one constraint after the
/// other (resized to their number). Clipped as mechanisms ask for (privacy/grid.hpp). Throws DataError for records that
/// cannot be clipped.
void sum_constraint_vectors(std::span<const DataConstraint> constraints, const Batch& batch, const Clip& clip,
                            Vector& sum);

/// Σ_i clip(v_i), v_i[j] = Σ_{columns of j} x z_i, over the batch's records; bounds are not deducted.
void sum_constraint_scores(std::span<const DataConstraint> constraints, const Batch& batch, const Clip& clip, View x,
                           Vector& sum);

/// `gradient` += Σ_j weights[j] a_ij of one record, in the parameters of the columns.
void add_constraint_gradient(std::span<const DataConstraint> constraints, const Row& row, View weights,
                             MutableView gradient);

/// The factor that clips a vector to the bound (kinds none, l1, l2), at most 1; its roundings are those that the
/// sensitivity's proof allows. Throws DataError for a norm that is not finite or beyond what can be clipped exactly.
[[nodiscard]] double clip_factor(View vector, const Clip& clip);

/// Number of entries of all constraints' columns.
[[nodiscard]] std::size_t columns_of(std::span<const DataConstraint> constraints);

}  // namespace starling
