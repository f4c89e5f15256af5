#include "plug_in_path.hpp"

#include <limits>

#include "starling/protocol/aggregated/plug_in_sums.hpp"

namespace starling {

void PlugInPath::after(const RoundView& view) {
  if (!rounds_.due(view.done()) || view.done() <= burn_in_) return;
  engine_.note_plug_in(view.done());
  if (engine_.paths() == 0) return;
  moments_.push_back({recorder_.counted(0), recorder_.estimate(0, view), engine_.mean_inverse_clients()});
}

std::vector<std::pair<Round, MethodSpread>> PlugInPath::spreads(std::size_t batch) {
  const std::vector<std::pair<Round, PlugInMeans>> noted = engine_.plug_in_noted();
  std::vector<std::pair<Round, MethodSpread>> result;
  for (std::size_t i = 0; i < moments_.size(); ++i) {
    const Moment& at = moments_[i];
    const auto& [steps, means] = noted[i];
    if (means.curvature.empty() || at.counted < 2) continue;
    PlugIn own = plug_in(at.estimate, {means.curvature, means.curvature_noise},
                         influence_of(means, batch, at.inverse_clients), at.counted);
    for (const std::size_t j : own.undetermined) own.spread.spread[j] = std::numeric_limits<double>::infinity();
    result.push_back({steps, {"plug-in", std::move(own.spread)}});
  }
  return result;
}

}  // namespace starling
