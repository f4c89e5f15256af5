/// The colours of all pictures.
#pragma once

#include <cstddef>
#include <string>

namespace starling {

/// Commands of gnuplot that define its line types 1 to 32. Eight colours that colour-blind readers tell apart (Okabe
/// and Ito 2008, yellow left out, grey put in) come with four dash patterns in turn; each type has a marker.
[[nodiscard]] std::string palette_commands();

/// Whether lines of this number need markers, since their colour has been used before.
[[nodiscard]] bool needs_markers(std::size_t number);

/// Commands of gnuplot for the colours of rasters, from 0 to 1: red, white, blue.
[[nodiscard]] std::string raster_palette();

/// Commands of gnuplot for the colours of matrices, from 0: white to dark blue.
[[nodiscard]] std::string matrix_palette();

}  // namespace starling
