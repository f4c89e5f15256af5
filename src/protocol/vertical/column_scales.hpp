/// The standardisation of a party's own columns, before rows are clipped and shared (docs/methods/shares.md, "Units of
/// columns").
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/boundary.hpp"
#include "core/columns.hpp"
#include "data/constants.hpp"

namespace starling {

class FeatureHistograms;

/// A party's rows of `columns` numbers. What is missing is NaN.
struct PartyRows {
  const Secret<Vector>& rows;
  const Secret<Vector>& labels;
  std::size_t columns;
  std::span<const std::size_t> numbers;  ///< places in a row of the columns that are standardised
  bool has_numbers = false;  ///< whether labels are numbers, which count as one more column after the others

  /// Number of columns that are standardised.
  [[nodiscard]] std::size_t scaled() const { return numbers.size() + (has_numbers ? 1 : 0); }
  /// As SharedData has it: 0 for a row without a record. Empty without persons.
  std::span<const std::size_t> records_of_person = {};
  std::size_t rows_of_person = 1;
};

/// Means, then deviations, of what is not missing in the columns: a single column of 2 scaled() numbers. Persons count
/// alike.
[[nodiscard]] Secret<Columns> exact_scales(const PartyRows& party);
/// The constants of such numbers. A column of one value gets a deviation of 1.
[[nodiscard]] std::vector<Standardisation> scales_of_moments(View means_and_deviations);

/// Counts of the columns' values in the bins of FeatureHistograms; of a person those of its first record.
[[nodiscard]] Secret<Counts> column_counts(const FeatureHistograms& histograms, const PartyRows& party);
/// The constants that noisy counts show; `deviation` is that of the noise on a count. A column of which nothing but
/// zeros stands out stays as it is, and so does one whose mean is within ±0.5 and whose deviation is 0.6 to 1.8. Others
/// are clipped at five deviations.
[[nodiscard]] std::vector<Standardisation> scales_of_counts(View counts, double deviation);

/// Standardises the first columns of rows in place, as many as there are scales. What is missing becomes 0.
void apply_scales(std::span<const Standardisation> scales, std::size_t columns, MutableView rows);

}  // namespace starling
