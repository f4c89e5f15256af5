#include "output/figures/effective_weights.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "data/stream.hpp"
#include "net/agreement.hpp"
#include "output/figures/model_path.hpp"
#include "protocol/decentralized/omd.hpp"

namespace starling {

namespace {

constexpr std::size_t most_named_weights = 10;

void keep_lowest(std::vector<EffectiveWeight>& weights) {
  std::ranges::stable_sort(weights, [](const auto& a, const auto& b) { return a.weight < b.weight; });
  if (weights.size() > most_named_weights) weights.resize(most_named_weights);
}

void append(const std::vector<EffectiveWeight>& weights, Vector& numbers) {
  numbers.push_back(static_cast<double>(weights.size()));
  for (const EffectiveWeight& each : weights) {
    numbers.insert(numbers.end(), {static_cast<double>(each.client), each.weight});
  }
}

/// Takes from the front of `numbers` what `append` wrote.
void take(View& numbers, std::vector<EffectiveWeight>& weights) {
  const auto count = static_cast<std::size_t>(numbers[0]);
  numbers = numbers.subspan(1);
  for (std::size_t i = 0; i < count; ++i) {
    weights.push_back({static_cast<Client>(numbers[2 * i]), numbers[2 * i + 1]});
  }
  numbers = numbers.subspan(2 * count);
}

/// Σ of steps not taken and Σ of steps credited.
Vector sums_of_steps(Agreement& agreement, const LocalSteps& local) {
  Columns steps(2, local.taken.size());
  for (std::size_t k = 0; k < local.taken.size(); ++k) {
    const double missing = 1 - local.taken[k];
    steps[k][0] = local.credits[k] > 0 ? missing * local.credits[k] : 0;
    steps[k][1] = local.credits[k];
  }
  return agreement.ordered_sum(Released<Columns>(declare_public(std::move(steps))));
}

}  // namespace

LocalSteps local_steps(const DecentralizedOmd& omd, Client first, std::optional<double> contraction) {
  LocalSteps steps{first, Vector(), Vector(omd.credits().begin(), omd.credits().end()), Vector()};
  for (std::size_t k = 0; k < steps.credits.size(); ++k) {
    const RoundSet& played = omd.played().rounds[k];
    if (played.empty() && omd.streams()[k]->records() == 0) steps.credits[k] = 0;  // under pairs, of its zeros
    steps.taken.push_back(steps.credits[k] > 0 ? omd.effective_weight(k) : std::numeric_limits<double>::quiet_NaN());
    steps.influences.push_back(contraction ? influence(omd.schedule(), omd.done(), played, *contraction) : 1);
  }
  return steps;
}

EffectiveWeights gather_weights(Agreement& agreement, const Recorded& recorded, const LocalSteps& local,
                                double tolerance) {
  EffectiveWeights result;
  result.tolerance = tolerance;
  result.of_all = recorded.figures == Figures::of_all;
  const Vector sums = sums_of_steps(agreement, local);
  if (sums[1] > 0) result.debt_share = sums[0] / sums[1];
  double most = 0;  // rounds that nobody played are nobody's loss
  const Vector own_most{local.influences.empty() ? 0 : std::ranges::max(local.influences)};
  for (const Vector& of_rank : agreement.all_gather(Released<Vector>(declare_public(own_most)))) {
    most = std::max(most, of_rank.front());
  }
  if (most == 0) most = 1;
  std::vector<EffectiveWeight> listed;
  std::vector<EffectiveWeight> low;
  for (std::size_t k = 0; k < local.taken.size(); ++k) {
    const EffectiveWeight own{local.first + static_cast<Client>(k), local.taken[k] * local.influences[k] / most};
    if (own.weight < 1 - tolerance) low.push_back(own);
    const auto& some = recorded.listed;
    if (result.of_all || std::ranges::binary_search(some, own.client)) listed.push_back(own);
  }
  Vector numbers{static_cast<double>(low.size())};
  keep_lowest(low);
  append(low, numbers);
  append(listed, numbers);
  for (const Vector& of_rank : agreement.gather(Released<Vector>(declare_public(std::move(numbers))))) {
    View rest = of_rank;
    result.named += static_cast<std::int64_t>(rest[0]);
    rest = rest.subspan(1);
    take(rest, result.lowest);
    take(rest, result.listed);
  }
  keep_lowest(result.lowest);
  return result;
}

std::string describe_lowest(const EffectiveWeights& weights) {
  std::string text;
  for (const EffectiveWeight& each : weights.lowest) {
    text += text.empty() ? fmt::format("client {} counted for {:.3g}", each.client, each.weight)
                         : fmt::format(", client {} for {:.3g}", each.client, each.weight);
  }
  const auto more = weights.named - static_cast<std::int64_t>(weights.lowest.size());
  return more > 0 ? text + fmt::format(", and {} more for less than {:.3g}", more, 1 - weights.tolerance) : text;
}

std::string note_on_weights(const EffectiveWeights& weights) {
  std::string text =
      fmt::format("clients count unequally in the result: {} (1 is fair; effective_weight)", describe_lowest(weights));
  if (weights.debt_share > weights.tolerance) {
    text += fmt::format(
        ". {:.3g} % of all steps credited were not taken (step debt): a larger --step-cap lets clients of little mass "
        "take longer steps",
        100 * weights.debt_share);
  }
  return text +
         ". What a client did before its records or its budget ended, or while it was away, fades as the others go on: "
         "give all clients as many rounds";
}

}  // namespace starling
