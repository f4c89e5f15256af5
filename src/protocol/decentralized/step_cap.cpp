#include "starling/protocol/decentralized/step_cap.hpp"

#include <algorithm>
#include <cmath>

namespace starling {

namespace {

constexpr double to_spare = 1.25;
constexpr Round summed_rounds = 10'000;  ///< rounds beyond are summed by an integral
constexpr double even_within = 1e-6;     ///< tolerance of "all masses are equal"

double rounded_up(double value) {
  const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
  return std::ceil(value / unit - 1e-9) * unit;
}

}  // namespace

double mean_step(const OmdSettings& settings) {
  const Round summed = std::min(settings.rounds, summed_rounds);
  double sum = 0;
  for (Round t = 0; t < summed; ++t) sum += settings.step_at(t);
  if (settings.rounds > summed) sum += settings.steps_between(summed, settings.rounds);
  return sum / static_cast<double>(settings.rounds) / settings.step_at(0);
}

double repaying_step_cap(const OmdSettings& settings, double least_mass) {
  if (least_mass > 1 - even_within) return 1;
  const double cap = to_spare * mean_step(settings) / std::max(least_mass, least_repaid_mass);
  return cap > 1 ? rounded_up(cap) : 1;
}

}  // namespace starling
