/// Panels of components.svg and regret.svg.
#pragma once

#include "gnuplot.hpp"

#include "starling/report/pictures/picture.hpp"

namespace starling {

/// One panel per component; no panel without models.
[[nodiscard]] Picture picture_of(const Components& components);
/// Regret divided by rounds, static and dynamic, log-log, with the lines of their fits.
[[nodiscard]] Picture picture_of(const RegretCurve& regret);

}  // namespace starling
