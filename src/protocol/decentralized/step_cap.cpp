#include "protocol/decentralized/step_cap.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace starling {

namespace {

constexpr double to_spare = 1.25;
constexpr Round summed_rounds = 10'000;  ///< rounds beyond are summed by an integral
constexpr double least_mass_of_falling_steps = 0.0125;
constexpr double even_within = 1e-6;  ///< tolerance of "all masses are equal"

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
  const bool falls = settings.falls_to_zero();
  const double cap = to_spare * (falls ? 1 / std::max(least_mass, least_mass_of_falling_steps)
                                       : mean_step(settings) / std::max(least_mass, least_repaid_mass));
  return cap > 1 ? rounded_up(cap) : 1;
}

double longest_fair_step(const OmdSettings& settings, double least_mass) {
  const double longest = settings.step_cap * std::max(least_mass, least_mass_of_falling_steps) / to_spare;
  const bool binds = settings.falls_to_zero() && least_mass <= 1 - even_within && longest < 1;
  return binds ? longest * settings.step : std::numeric_limits<double>::infinity();
}

}  // namespace starling
