/// Coefficients in the units of the source.
#pragma once

#include "core/columns.hpp"
#include "data/constants.hpp"
#include "inference/affine_map.hpp"

namespace starling {

/// The map from coefficients b of prepared features, with the intercept last, to those of the source's own columns.
/// Scores are b0 + Σ b_j a (x_j − m_j)/s_j of a label (y − m)/s, or y itself, where a is --scale. So slope j is
/// s a b_j/s_j, and the intercept is m + s (b0 − Σ a b_j m_j/s_j). Features that are no column's number (categories,
/// indicators, those of pictures) have m_j = 0 and s_j = 1. Of a column whose sign alone counts, b_j times its clip is
/// what a value of 1 does, as of a flag: s_j is 1/clip. Without an intercept there are only the slopes.
class OwnUnits {
 public:
  /// `features` is the number of prepared features. `label`: of the label, where scores predict it.
  OwnUnits(const PublicConstants& constants, const std::optional<Standardisation>& label, std::size_t features,
           bool intercept);

  /// The coefficients of one score.
  [[nodiscard]] Vector coefficients(View prepared) const;
  /// Their standard deviations, where those of `prepared` are independent and all the same.
  [[nodiscard]] Vector deviations(double deviation) const;
  /// The same as a matrix.
  [[nodiscard]] AffineMap map() const;

 private:
  [[nodiscard]] bool intercept() const { return last_ > 0; }

  Vector slopes_;      ///< s a/s_j
  Vector shares_;      ///< −s a m_j/s_j, of slope j in the intercept
  double last_ = 0;    ///< s; 0 without an intercept
  double offset_ = 0;  ///< m
};

}  // namespace starling
