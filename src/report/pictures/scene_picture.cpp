#include <algorithm>

#include <fmt/format.h>

#include "data/vertical/vertical.hpp"
#include "files/text_files.hpp"
#include "gnuplot.hpp"
#include "report/pictures/pictures.hpp"

namespace starling {

namespace {

constexpr double strongest = 10;  ///< dB of shadowing: one end of the colours

double width_of_cell(const SpectrumScene& scene) {
  return scene.side / static_cast<double>(scene.cells);
}

Panel map_of_shadowing(const SpectrumScene& scene) {
  Panel panel{"shadowing: red 0 dB, blue 10 dB", "metres north", false, {}, ""};
  const double width = width_of_cell(scene);
  for (std::size_t i = 0; i < scene.shadowing.size(); ++i) {
    const double left = static_cast<double>(i % scene.cells) * width;
    const double low = static_cast<double>(i / scene.cells) * width;
    panel.boxes.push_back({left, left + width, low, low + width, std::clamp(scene.shadowing[i] / strongest, 0.0, 1.0)});
  }
  return panel;
}

Panel map_of_paths(const SpectrumScene& scene) {
  Panel panel{"paths of receivers among transmitters", "metres north", false, {}, ""};
  const double side = scene.side;
  panel.curves.push_back({"the area", {{0, 0}, {side, 0}, {side, side}, {0, side}, {0, 0}}, false, 0, true});
  for (std::size_t n = 0; n < scene.transmitters.size(); ++n) {
    const Place& place = scene.transmitters[n];
    panel.curves.push_back({fmt::format("transmitter {}", n + 1), {{place.x, place.y}}, true});
  }
  for (std::size_t k = 0; k < scene.paths.size(); ++k) {
    Curve path{fmt::format("receiver {}", k + 1), {}};
    for (const Place& place : scene.paths[k]) path.points.emplace_back(place.x, place.y);
    panel.curves.push_back(std::move(path));
  }
  panel.range = {0, scene.side};
  return panel;
}

}  // namespace

void write_scene(const std::string& folder, const SpectrumScene& scene) {
  std::string places = "kind,number,round,x,y\n";
  for (std::size_t n = 0; n < scene.transmitters.size(); ++n) {
    places += fmt::format("transmitter,{},,{:.6g},{:.6g}\n", n + 1, scene.transmitters[n].x, scene.transmitters[n].y);
  }
  for (std::size_t k = 0; k < scene.paths.size(); ++k) {
    for (std::size_t t = 0; t < scene.paths[k].size(); ++t) {
      places += fmt::format("receiver,{},{},{:.6g},{:.6g}\n", k + 1, t + 1, scene.paths[k][t].x, scene.paths[k][t].y);
    }
  }
  write_text(folder + "/scene.csv", places);
  std::string field = "x,y,loss\n";
  const double width = width_of_cell(scene);
  for (std::size_t i = 0; i < scene.shadowing.size(); ++i) {
    field += fmt::format("{:.6g},{:.6g},{:.6g}\n", (static_cast<double>(i % scene.cells) + 0.5) * width,
                         (static_cast<double>(i / scene.cells) + 0.5) * width, scene.shadowing[i]);
  }
  write_text(folder + "/shadowing.csv", field);
}

std::string draw_scene(const std::string& folder, const SpectrumScene& scene) {
  Picture picture{"scene", {map_of_paths(scene), map_of_shadowing(scene)}, {"metres east", false}, 2};
  return draw(folder, "scene.gp", {picture}, {});
}

}  // namespace starling
