#include "vertical_text.hpp"

#include "regret_text.hpp"

namespace starling {

void add_vertical_traffic(const VerticalFigures& figures, Json& traffic) {
  traffic["uplink_bits_per_round"] = number_json(figures.bits.up / figures.rounds);
  traffic["downlink_bits_per_round"] = number_json(figures.bits.down / figures.rounds);
  traffic["downlink"] = figures.broadcast ? "one broadcast" : "a message to each party";
  traffic["uplink_bits"] = number_json(figures.bits.up);
  traffic["downlink_bits"] = number_json(figures.bits.down);
}

void add_vertical_metrics(const VerticalFigures& figures, Json& metrics) {
  if (figures.mse) metrics["mse"] = number_json(*figures.mse);
  if (figures.auc) metrics["auc"] = number_json(*figures.auc);
}

Json vertical_regret_json(const VerticalFigures& figures) {
  if (!figures.hindsight) return nullptr;
  const double regret = *figures.played - *figures.hindsight;
  return {{"static", number_json(regret)},
          {"per_round", number_json(regret / figures.rounds)},
          {"played", number_json(*figures.played)},
          {"hindsight", number_json(*figures.hindsight)},
          {"method", figures.hindsight_method}};
}

std::string vertical_traffic_rows(const SummaryView& summary) {
  if (!summary.has("traffic.uplink_bits_per_round")) return "";
  return table_row("per round", fmt::format("{} bits up from all parties, {} bits down ({})",
                                            shown(summary.number("traffic.uplink_bits_per_round"), "{:.10g}"),
                                            shown(summary.number("traffic.downlink_bits_per_round"), "{:.10g}"),
                                            summary.text("traffic.downlink")));
}

std::string vertical_metric_rows(const SummaryView& summary) {
  std::string text;
  if (summary.has("metrics.auc") && !summary.withholds("metrics.auc")) {
    text += table_row("AUC", shown(summary.number("metrics.auc"), "{:.4f}") + " progressive");
  }
  if (summary.has("regret.hindsight")) {
    text += table_row("static regret",
                      fmt::format("{} ({} a round), against {}", shown(summary.number("regret.static"), "{:.6g}"),
                                  shown(summary.number("regret.per_round"), "{:.6g}"), summary.text("regret.method")));
  }
  return text;
}

}  // namespace starling
