#include <algorithm>
#include <cmath>

#include "gnuplot.hpp"
#include "report/pictures/pictures.hpp"

namespace starling {

std::string draw_calibration(const std::string& folder, const Calibration& calibration) {
  Panel reliability{"calibration", "observed frequency", false, {}, "no record has a probability"};
  Panel shares{"predictions", "share of the records", false, {}, "no record has a probability"};
  Curve identity{"as predicted", {{0, 0}, {1, 1}}};
  identity.dashed = true;
  Curve observed{"observed", {}, true, 1};
  Curve share{"", {}, true, 1};
  Band errors{"two standard errors", {}, 1, true};
  std::int64_t records = 0;
  for (const CalibrationBin& bin : calibration) records += bin.records;
  for (const CalibrationBin& bin : calibration) {
    if (bin.records == 0) continue;
    const auto count = static_cast<double>(bin.records);
    const double error = 2 * std::sqrt(bin.frequency * (1 - bin.frequency) / count);
    observed.points.emplace_back(bin.probability, bin.frequency);
    share.points.emplace_back(bin.probability, count / static_cast<double>(records));
    errors.edges.push_back(
        {bin.probability, std::max(0.0, bin.frequency - error), std::min(1.0, bin.frequency + error)});
  }
  if (records > 0) reliability.curves = {identity, observed};
  if (records > 0) shares.curves = {share};
  if (errors.edges.size() > 1) reliability.bands = {errors};
  reliability.range = shares.range = std::pair(0.0, 1.0);
  return draw(folder, "calibration.gp",
              {{"calibration", {reliability, shares}, {"mean predicted probability", false, 0}, 2}}, {});
}

}  // namespace starling
