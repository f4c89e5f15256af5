#include "starling/protocol/decentralized/step_cap.hpp"

#include <algorithm>
#include <cmath>

namespace starling {

namespace {

constexpr double to_spare = 1.25;
constexpr Round summed_rounds = 10'000;  ///< of more the sum is an integral
constexpr double even_within = 1e-6;     ///< masses of a graph that gives all clients the same

/// Σ of η over rounds `from` to before `to`, by the midpoint rule, whose error is below p² / (24 from²) of it.
double integral_of_steps(const OmdSettings& settings, Round from, Round to) {
  const double low = static_cast<double>(from) + 0.5 + settings.step_offset;
  const double high = static_cast<double>(to) + 0.5 + settings.step_offset;
  const double power = 1 - settings.step_power;
  const double integral =
      std::abs(power) < 1e-9 ? std::log(high / low) : (std::pow(high, power) - std::pow(low, power)) / power;
  return settings.step * integral;
}

double rounded_up(double value) {
  const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
  return std::ceil(value / unit - 1e-9) * unit;
}

}  // namespace

double step_size(const OmdSettings& settings, Round t) {
  const double round = static_cast<double>(t + 1) + settings.step_offset;
  return settings.step / (settings.step_power == 0.5 ? std::sqrt(round) : std::pow(round, settings.step_power));
}

double mean_step(const OmdSettings& settings) {
  const Round summed = std::min(settings.rounds, summed_rounds);
  double sum = 0;
  for (Round t = 0; t < summed; ++t) sum += step_size(settings, t);
  if (settings.rounds > summed) sum += integral_of_steps(settings, summed, settings.rounds);
  return sum / static_cast<double>(settings.rounds) / step_size(settings, 0);
}

double repaying_step_cap(const OmdSettings& settings, double least_mass) {
  if (least_mass > 1 - even_within) return 1;
  const double cap = to_spare * mean_step(settings) / std::max(least_mass, least_repaid_mass);
  return cap > 1 ? rounded_up(cap) : 1;
}

}  // namespace starling
