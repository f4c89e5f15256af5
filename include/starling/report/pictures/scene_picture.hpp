/// The world of a spectrum source, as files and as a picture (Wang and Xu 2023, Figs. 3 and 4).
#pragma once

#include <string>

#include "starling/data/vertical/vertical.hpp"

namespace starling {

/// FOLDER/scene.csv: kind (transmitter or receiver), number (from 1), round (from 1; empty for transmitters), x, y in
/// metres; and FOLDER/shadowing.csv: x, y, loss in dB at the centres of cells. Throws FailureError.
void write_scene(const std::string& folder, const SpectrumScene& scene);

/// Draws scene.svg into the folder: where receivers walk among the transmitters, and the map of shadowing. Returns a
/// sentence that says why not, else an empty string.
[[nodiscard]] std::string draw_scene(const std::string& folder, const SpectrumScene& scene);

}  // namespace starling
