#include "regret/growth.hpp"

#include <algorithm>
#include <cmath>

#include "core/numerics/kernels.hpp"

namespace starling {

namespace {

constexpr Round decade = 10;
constexpr std::size_t least_points = 5;

/// The line through points, y ≈ height + slope · (x − centre); weights[i] is what y_i counts in the slope.
struct Line {
  double centre = 0;
  double height = 0;
  double slope = 0;
  Vector weights;
};

Line line_through(View x, View y) {
  const auto n = static_cast<double>(x.size());
  Line line{sum(x) / n, sum(y) / n, 0, Vector(x.begin(), x.end())};
  double spread = 0;
  for (double& weight : line.weights) {
    weight -= line.centre;
    spread += weight * weight;
  }
  scale(1 / spread, line.weights);
  line.slope = dot(line.weights, y);
  return line;
}

/// See `fit_growth`: √Σ_j (gain_j − fitted gain_j)² (Σ_{k ≥ j} weight_k / R_k)², where R_k of the fitted curve stands
/// for that of the points, which chance has moved.
double error_of_slope(const GrowthFit& fit, const std::vector<Round>& rounds, View sums, View weights) {
  double variance = 0;
  double pull = 0;
  for (std::size_t j = sums.size(); j-- > 0;) {
    const double fitted = fit.at(rounds[j]);
    pull += weights[j] / fitted;
    const double gain = j == 0 ? sums[j] - fitted : (sums[j] - sums[j - 1]) - (fitted - fit.at(rounds[j - 1]));
    variance += gain * gain * pull * pull;
  }
  const auto n = static_cast<double>(sums.size());
  return std::sqrt(variance * n / (n - 2));
}

}  // namespace

std::vector<Round> growth_marks(Round last) {
  std::vector<Round> marks;
  for (Round t = 1; t < last; t = std::max(t + 1, (t * 13 + 9) / 10)) marks.push_back(t);
  if (last > 0) marks.push_back(last);
  return marks;
}

double GrowthFit::at(Round t) const {
  return scale * std::pow(static_cast<double>(t), exponent);
}

std::optional<GrowthFit> fit_growth(const std::vector<Round>& rounds, View sums) {
  if (rounds.empty()) return std::nullopt;
  const auto first = static_cast<std::size_t>(
      std::find_if(rounds.begin(), rounds.end(), [&](Round t) { return t * decade >= rounds.back(); }) -
      rounds.begin());
  const std::vector<Round> last_rounds(rounds.begin() + static_cast<std::ptrdiff_t>(first), rounds.end());
  const View last_sums = sums.subspan(first);
  if (last_rounds.size() < least_points) return std::nullopt;
  Vector x;
  Vector y;
  for (std::size_t i = 0; i < last_sums.size(); ++i) {
    if (!(last_sums[i] > 0)) return std::nullopt;
    x.push_back(std::log(static_cast<double>(last_rounds[i])));
    y.push_back(std::log(last_sums[i]));
  }
  const Line line = line_through(x, y);
  GrowthFit fit;
  fit.exponent = line.slope;
  fit.scale = std::exp(line.height - line.slope * line.centre);
  fit.from = last_rounds.front();
  fit.points = last_rounds.size();
  fit.standard_error = error_of_slope(fit, last_rounds, last_sums, line.weights);
  return fit;
}

void PlayedRecorder::after(const RoundView& view) {
  for (; reached_ < marks_.size() && marks_[reached_] <= view.done(); ++reached_) {
    for (std::size_t k = 0; k < played_.size(); ++k) {
      played_[k].update([](Vector& all, const double& sum) { all.push_back(sum); }, view.played().objectives[k]);
    }
  }
}

}  // namespace starling
