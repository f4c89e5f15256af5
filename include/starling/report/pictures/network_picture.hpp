/// Pictures of the network itself: where the mass is, and who was there.
#pragma once

#include <string>
#include <vector>

#include "starling/record/directory/history.hpp"
#include "starling/report/pictures/picture_formats.hpp"
#include "starling/report/view/run_reading.hpp"

namespace starling {

/// Draws into the folder, in each format: mass.svg, total mass and that of up to ten clients over rounds,
/// unless every client's was 1 all along; and presence.svg, which clients took part when, unless all always did.
/// Removes nothing. Returns a sentence saying why not, if gnuplot is missing or fails, else an empty string.
[[nodiscard]] std::string draw_network(const std::string& folder, const NetworkRecords& records,
                                       const std::vector<NetworkFigures>& history, PictureFormats formats);

}  // namespace starling
