/// Curves of the figures of a history.
#pragma once

#include <string>
#include <vector>

#include "core/columns.hpp"
#include "output/directory/history.hpp"
#include "report/view/panel.hpp"

namespace starling {

using Figure = double NetworkFigures::*;

/// Sums of a progressive figure over the rounds of some lines: of each line the mean since the line before is known.
struct Tally {
  double total = 0;
  double rounds = 0;
  [[nodiscard]] double mean() const { return total / rounds; }
};

/// The rounds at which the figure is known, as a curve.
[[nodiscard]] Curve curve_of(const std::vector<NetworkFigures>& history, Figure figure, const std::string& title,
                             double factor = 1);
/// The mean of a progressive figure over all rounds so far.
[[nodiscard]] Curve mean_so_far(const std::vector<NetworkFigures>& history, Figure figure, const std::string& title,
                                double factor);
/// The mean of some values, and what a band shows around it: mean ± standard deviation, of two values from the lower to
/// the higher, of one nothing (NaN).
struct MeanWithBand {
  double mean = 0;
  Band::Edge edge;
};
/// A logarithmic axis cannot show a bound that is not positive: the band ends at the lowest value then. At least one
/// value.
[[nodiscard]] MeanWithBand mean_with_band(double x, const Vector& values, bool logarithmic);

}  // namespace starling
