#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "gnuplot.hpp"
#include "report/pictures/pictures.hpp"

namespace starling {

namespace {

/// Records of a point: fewer would show chance.
constexpr std::int64_t fewest = 10;

/// The frequencies that are at most two standard errors away from an observed one (Wilson 1927), also where that is 0
/// or 1.
Band::Edge two_errors(const CalibrationBin& bin) {
  const auto n = static_cast<double>(bin.records);
  const double centre = (bin.frequency + 2 / n) / (1 + 4 / n);
  const double width = 2 / (1 + 4 / n) * std::sqrt(bin.frequency * (1 - bin.frequency) / n + 1 / (n * n));
  return {bin.probability, std::max(0.0, centre - width), std::min(1.0, centre + width)};
}

}  // namespace

std::string draw_calibration(const std::string& folder, const Calibration& calibration) {
  const std::string none = fmt::format("no tenth of the probabilities has {} records", fewest);
  Panel reliability{"calibration", "observed frequency", false, {}, none};
  Panel shares{"predictions", "share of the records", false, {}, none};
  Curve identity{"as predicted", {{0, 0}, {1, 1}}};
  identity.dashed = true;
  Curve observed{"observed", {}, true, 1};
  Curve share{"", {}, true, 1};
  Band errors{"two standard errors", {}, 1, true};
  std::int64_t records = 0;
  for (const CalibrationBin& bin : calibration) records += bin.records;
  for (const CalibrationBin& bin : calibration) {
    if (bin.records < fewest) continue;
    observed.points.emplace_back(bin.probability, bin.frequency);
    share.points.emplace_back(bin.probability, static_cast<double>(bin.records) / static_cast<double>(records));
    errors.edges.push_back(two_errors(bin));
  }
  if (!errors.edges.empty()) {
    reliability.curves = {identity, observed};
    reliability.bands = {errors};
    shares.curves = {share};
  }
  reliability.range = shares.range = std::pair(0.0, 1.0);
  return draw(folder, "calibration.gp",
              {{"calibration", {reliability, shares}, {"mean predicted probability", false, 0}, 2}}, {});
}

}  // namespace starling
