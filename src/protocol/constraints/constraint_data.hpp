/// What a batch says of the constraints that depend on records.
#pragma once

#include <span>

#include "starling/protocol/constraints/constraint.hpp"

namespace starling {

/// Σ_i clip(a_i) over the batch's records, a_i being the values of the constraints' columns, one constraint after the
/// other (resized to their number). Clipped as mechanisms ask for (privacy/noise/grid.hpp). A record out of range adds
/// nothing.
void sum_constraint_vectors(std::span<const DataConstraint> constraints, const Batch& batch, const Clip& clip,
                            Vector& sum);

/// Σ_i clip(v_i), v_i[j] = Σ_{columns of j} x z_i, over the batch's records; bounds are not deducted. Likewise.
void sum_constraint_scores(std::span<const DataConstraint> constraints, const Batch& batch, const Clip& clip, View x,
                           Vector& sum);

/// `gradient` += Σ_j weights[j] a_ij of one record, in the parameters of the columns.
void add_constraint_gradient(std::span<const DataConstraint> constraints, const Row& row, View weights,
                             MutableView gradient);

/// `sum` += the vector clipped to the bound (kinds none, l1, l2); the roundings are those that the sensitivity's proof
/// allows. Adds nothing and returns false for a vector out of range: one that is not finite, or longer than 1e150.
bool add_clipped(View vector, const Clip& clip, MutableView sum);

/// Number of entries of all constraints' columns.
[[nodiscard]] std::size_t columns_of(std::span<const DataConstraint> constraints);

}  // namespace starling
