/// The standardisation of a party's own columns, before rows are clipped and shared (docs/methods/shares.md, "Units of
/// columns").
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/boundary.hpp"
#include "core/columns.hpp"
#include "data/constants.hpp"
#include "privacy/histograms/feature_histograms.hpp"

namespace starling {

class RangeHistograms;

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

/// The columns of a party by noisy histograms: first of octaves, then, of columns whose values lie all on one side of 0
/// and far from it, within the ranges that octaves have shown.
class ColumnSights {
 public:
  ColumnSights() = default;
  /// By the sums of the histograms of octaves; `deviation` is that of the noise on a count.
  ColumnSights(View counts, double deviation);

  /// The ranges of columns far from 0, in the order of columns.
  [[nodiscard]] std::vector<ValueRange> ranges() const;
  /// Counts of the values of these columns in the bins of `histograms`, which are of ranges(); of a person those of its
  /// first record.
  [[nodiscard]] Secret<Counts> counts_within(const RangeHistograms& histograms, const PartyRows& party) const;
  /// Takes the sums of such histograms.
  void look_within(View counts, double deviation, std::size_t contributors);

  /// A column of which nothing but zeros stands out stays as it is, and so does one whose mean is within ±0.5 and whose
  /// deviation is 0.6 to 1.8. Others are clipped at five deviations.
  [[nodiscard]] std::vector<Standardisation> scales() const;
  /// The columns whose deviation histograms do not show: values fill few bins, or are smaller than the smallest.
  [[nodiscard]] std::vector<std::size_t> unresolved() const;

 private:
  struct Column {
    FeatureSight sight;
    bool is_far = false;  ///< from 0
    bool is_resolved = true;
  };
  std::vector<Column> columns_;
};

/// Standardises the first columns of rows in place, as many as there are scales. What is missing becomes 0.
void apply_scales(std::span<const Standardisation> scales, std::size_t columns, MutableView rows);

}  // namespace starling
