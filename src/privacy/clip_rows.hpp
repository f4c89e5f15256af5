/// Clipping of matrices with one row for each record. It bounds the effect of a replaced record, as mechanisms assume.
///
/// With B the bound of a clip that a mechanism has given (Protection::clip: it is C (1 − margin)), u = 2^-53 and e the
/// width: the computed norm n of a row x is made of e non-negative terms and at most one root, so of at most e + 1
/// roundings one after the other; the factor B/n is rounded once and each product once. Those are fewer than the d + 16
/// roundings that privacy/noise/grid.hpp counts for a row of d = m e numbers in its step 1, which therefore says that
/// the norm of what is left is at most B (1 + γ_{d+16}), and its margin takes that in. Rows within the bound stay:
/// their exact norm exceeds n, and so B, by no more roundings than these. Where a sum of squares is below 1e-280 and
/// could have lost digits to underflow, n is the L1 norm, which bounds the L2 norm; above 1e-280, 2^50 squares that
/// underflow take away less than a share of 2^-90. No factor underflows: B is at least 2^-334 and n at most 1e150.
#pragma once

#include <cstddef>

#include "core/boundary.hpp"
#include "core/columns.hpp"

namespace starling {

/// Writes the factor by which clip_rows scales each row of `rows`, of `width` numbers each, for clips other than
/// `component`; 0 for a row that becomes 0. Rows that a sum weighs by their factors have the sum of the clipped rows,
/// to the bit. Throws FailureError unless there are as many rows as factors.
void clip_factors(View rows, std::size_t width, const Clip& clip, MutableView factors);

/// Scales each row of `rows`, of `width` numbers each, to a norm of at most clip.bound: L1 or L2, as clip.kind says;
/// rows within the bound, and all rows under ClipKind::none, stay as they are; under ClipKind::component each number is
/// brought into [−bound, bound]. Row i depends on row i alone. A row that is not finite or, if there is a norm to be
/// clipped, longer than 1e150, which could not be clipped exactly, becomes 0. Returns how many did. Throws FailureError
/// unless `width` divides the number of entries.
std::size_t clip_rows(MutableView rows, std::size_t width, const Clip& clip);

}  // namespace starling
