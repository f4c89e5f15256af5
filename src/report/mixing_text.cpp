#include "mixing_text.hpp"

#include "regret_text.hpp"
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace starling {

namespace {

template <class T, class F>
Json list_of(const std::vector<T>& items, F&& value) {
  Json list = Json::array();
  for (const T& each : items) list.push_back(value(each));
  return list;
}

void add_weights(const EffectiveWeights& weights, Json& json) {
  const auto client = [](const EffectiveWeight& each) { return each.client; };
  const auto weight = [](const EffectiveWeight& each) { return number_json(each.weight); };
  json["step_debt_share"] = number_json(weights.debt_share);
  json["effective_weight"] = list_of(weights.listed, weight);
  if (!weights.of_all) json["effective_weight_clients"] = list_of(weights.listed, client);
  json["low_effective_weights"] = {{"below", 1 - weights.tolerance},
                                   {"count", weights.named},
                                   {"clients", list_of(weights.lowest, client)},
                                   {"weights", list_of(weights.lowest, weight)}};
}

Json small_mass_json(const SmallMass& mass) {
  return {{"client", mass.client}, {"least", number_json(mass.least)}, {"share_of_rounds", number_json(mass.share)}};
}

void add_small_masses(const SmallMasses& masses, Json& json) {
  json["least_mass"] = masses.least ? small_mass_json(*masses.least) : Json(nullptr);
  json["small_masses"] = {
      {"below", small_mass}, {"count", masses.count}, {"clients", list_of(masses.named, small_mass_json)}};
}

/// The clients that `low_effective_weights` names, in words.
std::string low_weights_text(const SummaryView& summary) {
  if (!summary.has("low_effective_weights")) return "";
  const Vector clients = summary.numbers("low_effective_weights.clients");
  const Vector values = summary.numbers("low_effective_weights.weights");
  EffectiveWeights weights;
  weights.tolerance = 1 - summary.number("low_effective_weights.below");
  weights.named = summary.count("low_effective_weights.count");
  for (std::size_t i = 0; i < std::min(clients.size(), values.size()); ++i) {
    weights.lowest.push_back({static_cast<Client>(clients[i]), values[i]});
  }
  return describe_lowest(weights);
}

/// The clients that `small_masses` names, in words.
std::string small_masses_text(const SummaryView& summary) {
  if (!summary.has("small_masses")) return "";
  SmallMasses masses;
  masses.count = summary.count("small_masses.count");
  for (const SummaryView& each : summary.list("small_masses.clients")) {
    masses.named.push_back(
        {static_cast<Client>(each.count("client")), each.number("least"), each.number("share_of_rounds")});
  }
  return describe_small(masses);
}

}  // namespace

void add_mixing_figures(const Summary& summary, Json& json) {
  json["step_debt"] = number_json(summary.largest_debt);
  if (summary.step_cap) json["step_cap"] = number_json(*summary.step_cap);
  if (summary.weights) add_weights(*summary.weights, json);
  if (summary.small_masses) add_small_masses(*summary.small_masses, json);
}

std::string mixing_rows(const SummaryView& summary) {
  std::string text;
  if (const double cap = summary.number("step_cap"); std::isfinite(cap) && cap != 1) {
    text += table_row("step cap", fmt::format("{:.3g} times the first round's step", cap));
  }
  if (const double debt = summary.number("step_debt"); debt > 1e-12) {
    const double share = summary.number("step_debt_share");
    const std::string of_all = share > 0 ? fmt::format(", {:.3g} % of all steps credited", 100 * share) : "";
    text += table_row("step debt", fmt::format("{:.3g} not yet repaid{}", debt, of_all));
  }
  if (const std::string low = low_weights_text(summary); !low.empty()) {
    text += table_row("effective weight", low + " (steps taken / steps credited)");
  }
  if (const std::string small = small_masses_text(summary); !small.empty()) {
    text += table_row("small masses", small + fmt::format(", below {:g} of the average", small_mass));
  }
  return text;
}

}  // namespace starling
