#include "added_noise.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/round_set.hpp"
#include "privacy/correlation.hpp"
#include "privacy/mechanism.hpp"
#include "protocol/observer.hpp"
#include "report/summary.hpp"
#include "run/inputs/inputs.hpp"
#include "run/privacy/run_privacy.hpp"
#include "run/stages/method.hpp"
#include "run/stages/run_context.hpp"

namespace starling {

namespace {

/// One client's part of the noise.
struct NoisePart {
  double deviation = 0;  ///< of its noise in Σ weight η ĝ; NaN where it is not known
  double weight = 1;
  double share = 1;
  double releases = 0;
};
constexpr std::size_t numbers_of_part = 4;

/// The deviation of Σ η_t ĝ_t over the releases of client u.
double deviation_of_client(RunPrivacy& privacy, Client u, const RoundSet& played, const ReleasedSteps& steps) {
  std::vector<Round> rounds;
  Vector factors;
  std::optional<std::pair<double, double>> known;  // a price and its deviation
  played.for_each([&](Round t) {
    const double price = privacy.price_at(u, t);
    if (!known || known->first != price) {
      known.emplace(price, privacy.protection().own_deviation(price).value_or(std::nan("")));
    }
    rounds.push_back(t);
    factors.push_back(steps.length(t) * known->second);
  });
  return noise_of_sum(privacy.protection().settings().correlation, rounds, factors);
}

/// All clients' parts, in client order, on rank 0.
std::vector<NoisePart> gather_parts(const BegunRun& begun, const RoundView& view, const ReleasedSteps& steps) {
  const RunInputs& inputs = begun.context.inputs;
  Vector numbers;
  for (std::size_t k = 0; k < steps.weights.size(); ++k) {
    const RoundSet& played = view.played().rounds[k];
    const double own =
        deviation_of_client(*begun.privacy, inputs.first_client() + static_cast<Client>(k), played, steps);
    numbers.insert(numbers.end(),
                   {own * steps.weights[k], steps.weights[k], steps.shares[k], static_cast<double>(played.size())});
  }
  std::vector<NoisePart> parts;
  for (const Vector& of_rank : begun.context.agreement.gather(declare_public(std::move(numbers)))) {
    for (std::size_t i = 0; i < of_rank.size(); i += numbers_of_part) {
      parts.push_back({of_rank[i], of_rank[i + 1], of_rank[i + 2], of_rank[i + 3]});
    }
  }
  return parts;
}

bool have_one(const std::vector<NoisePart>& parts, double NoisePart::*number) {
  return std::ranges::all_of(parts, [&](const NoisePart& each) { return each.*number == parts.front().*number; });
}

/// Why nobody knows the noise; empty where it is known.
std::string why_unknown(const BegunRun& begun, const ReleasedSteps& steps, const std::vector<NoisePart>& parts) {
  const RunInputs& inputs = begun.context.inputs;
  if (!steps.unknown.empty()) return steps.unknown;
  if (inputs.members.has_changed()) return "clients were lost or have joined";
  const bool same_rounds = have_one(parts, &NoisePart::releases);
  if (steps.in_all_rounds && !same_rounds) return "not every client has released in every round";
  if (begun.privacy->protection().settings().pairs && !(same_rounds && have_one(parts, &NoisePart::weight))) {
    return "noise between pairs cancels only where all clients count alike in every round";
  }
  return "";
}

}  // namespace

AddedNoise added_noise(const BegunRun& begun, const RoundView& view, const ReleasedSteps& steps) {
  const std::vector<NoisePart> parts = gather_parts(begun, view, steps);
  double square = 0;
  double shares = 0;
  for (const NoisePart& each : parts) {
    square += each.deviation * each.deviation;
    shares += each.share;
  }
  if (parts.empty() || square == 0) return {0, ""};
  if (std::string reason = why_unknown(begun, steps, parts); !reason.empty()) return {std::nullopt, std::move(reason)};
  if (!std::isfinite(square)) return {std::nullopt, "the mechanism does not state the deviation of its noise"};
  return {std::sqrt(square) / shares, ""};
}

}  // namespace starling
