#include "palette.hpp"

#include <array>

#include <fmt/format.h>

namespace starling {

namespace {

constexpr std::array<const char*, 8> colours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                             "#56B4E9", "#E69F00", "#000000", "#888888"};
constexpr std::array markers{7, 5, 9, 11, 13, 6, 4, 8};
constexpr std::size_t dash_patterns = 4;

}  // namespace

std::string palette_commands() {
  std::string commands;
  for (std::size_t i = 0; i < dash_patterns * colours.size(); ++i) {
    const std::size_t turn = i / colours.size();
    commands += fmt::format("set linetype {} lc rgb '{}' dt {} pt {}\n", i + 1, colours[i % colours.size()], turn + 1,
                            markers[(i + turn) % markers.size()]);
  }
  return commands + fmt::format("set linetype cycle {}\n", dash_patterns * colours.size());
}

bool needs_markers(std::size_t number) {
  return number > colours.size();
}

std::string raster_palette() {
  return "set palette defined (0 '#b2182b', 0.5 '#f7f7f7', 1 '#2166ac')\n";
}

std::string matrix_palette() {
  return "set palette defined (0 '#ffffff', 0.15 '#9ecae1', 0.5 '#3182bd', 1 '#08306b')\n";
}

}  // namespace starling
