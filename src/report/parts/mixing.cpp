// Consensus, mass, pace and steps of clients that mix with their neighbours.
#include <algorithm>

#include "output/figures/effective_weights.hpp"
#include "parts.hpp"

namespace starling {

namespace {

void add_pace(const Summary& summary, Json& json) {
  const Pace& pace = summary.get<Pace>();
  json["pace"] = {{"mode", !pace.deadline       ? "synchronous"
                           : *pace.deadline > 0 ? "deadline"
                                                : "asynchronous"},
                  {"deadline", number_json(pace.deadline)},
                  {"reproducible", !pace.deadline.has_value()},
                  {"least_rounds", pace.least_rounds},
                  {"most_rounds", pace.most_rounds}};
}

void add_weights(const EffectiveWeights& weights, Json& json) {
  const auto client = [](const EffectiveWeight& each) { return each.client; };
  const auto weight = [](const EffectiveWeight& each) { return number_json(each.weight); };
  json["step_debt_share"] = number_json(weights.debt_share);
  json["effective_weight"] = json_list(weights.listed, weight);
  if (!weights.of_all) json["effective_weight_clients"] = json_list(weights.listed, client);
  json["low_effective_weights"] = {{"below", 1 - weights.tolerance},
                                   {"count", weights.named},
                                   {"clients", json_list(weights.lowest, client)},
                                   {"weights", json_list(weights.lowest, weight)}};
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

void add_consensus(const Summary& summary, Json& json) {
  const Consensus& consensus = summary.get<Consensus>();
  json["aggregated"] = summary.aggregated;
  json["consensus_error"] = summary.aggregated ? Json(nullptr) : number_json(consensus.error);
  json["mass"] = summary.aggregated ? Json(nullptr) : number_json(consensus.mass);
  json["mass_in_flight"] = number_json(consensus.in_flight);
}

std::string consensus_rows(const SummaryView& summary) {
  if (summary.flag("aggregated")) return "";
  const std::string text =
      table_row("consensus error", fmt::format("{}  (mean squared distance of a client to the mean model)",
                                               shown(summary.number("consensus_error"), "{:.3e}")));
  const double in_flight = summary.number("mass_in_flight");
  const std::string under_way = in_flight > 0 ? fmt::format(" + {:.6g} under way", in_flight) : "";
  return text + table_row("mass", fmt::format("{}{}  (sum of the clients' weights; {} is right)",
                                              shown(summary.number("mass"), "{:.12g}"), under_way,
                                              summary.count("clients") - clients_lost(summary)));
}

std::string pace_rows(const SummaryView& summary) {
  if (!summary.has("pace.deadline") || !std::isfinite(summary.number("pace.deadline"))) return "";
  return table_row(
      "pace", fmt::format("not in step ({}): ranks played {} to {} rounds; not reproducible", summary.text("pace.mode"),
                          summary.count("pace.least_rounds"), summary.count("pace.most_rounds")));
}

void add_steps(const Summary& summary, Json& json) {
  const Steps& steps = summary.get<Steps>();
  json["step_debt"] = number_json(steps.largest_debt);
  if (const auto* const noise = summary.find<AddedNoise>()) {
    json["added_noise"] = {{"deviation", number_json(noise->deviation)},
                           {"unknown", noise->unknown.empty() ? Json() : Json(noise->unknown)}};
  }
  if (steps.cap) json["step_cap"] = number_json(*steps.cap);
  if (const auto* const weights = summary.find<EffectiveWeights>()) add_weights(*weights, json);
}

std::string step_rows(const SummaryView& summary) {
  std::string text;
  if (summary.has("client_weights")) {
    const bool equal = summary.text("client_weights") == name_of(ClientWeights::equal);
    const bool of_persons = summary.has("privacy.unit") && summary.text("privacy.unit") == "person";
    text += table_row("client weights", in_words(equal ? ClientWeights::equal : ClientWeights::records, of_persons));
  }
  if (const double cap = summary.number("step_cap"); std::isfinite(cap) && cap != 1) {
    text += table_row("step cap", fmt::format("{:.3g} times the first round's step", cap));
  }
  if (const double debt = summary.number("step_debt"); debt > 1e-12) {
    const double share = summary.number("step_debt_share");
    const std::string of_all = share > 0 ? fmt::format(", {:.3g} % of all steps credited", 100 * share) : "";
    text += table_row("step debt", fmt::format("{:.3g} of the first round's steps not yet repaid{}", debt, of_all));
  }
  if (const std::string low = low_weights_text(summary); !low.empty()) {
    text += table_row("effective weight", low + " (1 is fair)");
  }
  return text;
}

}  // namespace

const SummaryPart consensus_part{add_consensus, consensus_rows};
const SummaryPart pace_part{add_pace, pace_rows};
const SummaryPart step_part{add_steps, step_rows};

}  // namespace starling
