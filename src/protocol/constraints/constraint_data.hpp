/// Sums over a batch for constraints that depend on records.
#pragma once

#include <span>

#include "protocol/constraints/constraint_set.hpp"

namespace starling {

/// `sum` = Σ_i clip(a_i) over the batch's records. a_i holds the values of the constraints' columns, one constraint
/// after the other. Clipping is that of the mechanisms (privacy/noise/grid.hpp). A record out of range adds nothing.
void sum_constraint_vectors(std::span<const DataConstraint> constraints, const Batch& batch, const Clip& clip,
                            Vector& sum);

/// `sum` = Σ_i clip(v_i) with v_i[j] = Σ_{columns of j} x z_i; bounds are not deducted. Clipping as above.
void sum_constraint_scores(std::span<const DataConstraint> constraints, const Batch& batch, const Clip& clip, View x,
                           Vector& sum);

/// `gradient` += Σ_j weights[j] a_ij of one record, in the parameters of the columns.
void add_constraint_gradient(std::span<const DataConstraint> constraints, const Row& row, View weights,
                             MutableView gradient);

/// `sum` += the vector clipped to the bound (kinds none, l1, l2), with the roundings that the proof of sensitivity
/// allows. Adds nothing and returns false if the vector is not finite or longer than 1e150.
bool add_clipped(View vector, const Clip& clip, MutableView sum);

/// Number of entries of all constraints' columns.
[[nodiscard]] std::size_t columns_of(std::span<const DataConstraint> constraints);

}  // namespace starling
