/// Curves of the figures of a history.
#pragma once

#include <string>
#include <vector>

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
/// Whether a curve of the panel has a point.
[[nodiscard]] bool any_known(const Panel& panel);

}  // namespace starling
