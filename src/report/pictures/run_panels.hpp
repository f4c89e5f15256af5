/// Panels of components.svg and regret.svg.
#pragma once

#include "gnuplot.hpp"

#include "starling/report/pictures/picture.hpp"

namespace starling {

/// Clients of a run of whom a picture shows curves.
inline constexpr std::size_t most_drawn_clients = 10;

/// One panel per component; no panel without models.
[[nodiscard]] Picture picture_of(const Components& components);
/// Regret divided by rounds, static and dynamic, log-log, with the lines of their fits.
[[nodiscard]] Picture picture_of(const RegretCurve& regret);

}  // namespace starling
