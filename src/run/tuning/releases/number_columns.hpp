/// The feature columns that hold numbers, whose sizes a run finds out before the first round.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "data/constants.hpp"
#include "tuned_method.hpp"

namespace starling {

/// Features that are numbers of a column, rather than flags of categories. The same on all ranks.
struct NumberColumns {
  std::size_t source_columns = 0;      ///< feature columns of the source, whatever they hold
  std::vector<std::size_t> features;   ///< of these, among the features that models see
  std::vector<std::size_t> column_of;  ///< the columns of these, in the source
  /// Public ranges of these, which --ranges maps to −1 … 1 and clips. Columns without one stay as they are.
  std::vector<Standardisation> ranges;
  Standardisation label_range;     ///< likewise
  std::vector<std::string> names;  ///< of these: in the source, or their numbers there

  [[nodiscard]] std::size_t count() const { return column_of.size(); }
  [[nodiscard]] bool all_have_ranges() const;
  /// The names of some of these, in messages.
  [[nodiscard]] std::string some_of(const std::vector<std::size_t>& columns) const;
};

/// **Collective.**
[[nodiscard]] NumberColumns number_columns(const TuningTerms& run);

}  // namespace starling
