// Messages and bytes.
#include <algorithm>
#include <optional>

#include "parts.hpp"

namespace starling {

namespace {

constexpr std::size_t most_listed_edges = 1000;

std::int64_t total_messages(const Summary& summary) {
  std::int64_t total = 0;
  for (const EdgeTraffic& edge : summary.edges) total += edge.messages;
  return total;
}
std::int64_t total_bytes(const Summary& summary) {
  std::int64_t total = 0;
  for (const EdgeTraffic& edge : summary.edges) total += edge.bytes;
  return total;
}

/// Bits of the messages of vertical learning; messages for scores of test records do not count.
void add_vertical_traffic(const VerticalFigures& figures, Json& traffic) {
  traffic["uplink_bits_per_round"] = number_json(figures.bits.up / figures.rounds);
  traffic["downlink_bits_per_round"] = number_json(figures.bits.down / figures.rounds);
  traffic["downlink"] = figures.broadcast ? "one broadcast" : "a message to each party";
  traffic["uplink_bits"] = number_json(figures.bits.up);
  traffic["downlink_bits"] = number_json(figures.bits.down);
}

/// From all other clients to the aggregator, which is client 0, and one broadcast back, in bytes per round.
void add_aggregator_traffic(const Summary& summary, Json& traffic) {
  double up = 0;
  double down = 0;
  for (const EdgeTraffic& edge : summary.edges) (edge.to == 0 ? up : down) += static_cast<double>(edge.bytes);
  if (summary.vertical) return add_vertical_traffic(*summary.vertical, traffic);
  const double listeners = std::max(1.0, static_cast<double>(summary.clients) - 1);
  const auto rounds = static_cast<double>(summary.rounds);
  traffic["uplink_bytes_per_round"] = number_json(up / rounds);
  traffic["downlink_bytes_per_round"] = number_json(down / listeners / rounds);
}

Json traffic_json(const Summary& summary) {
  Json edges = Json::array();
  if (summary.edges.size() <= most_listed_edges && !edge_count(summary).is_null()) {
    for (const EdgeTraffic& edge : summary.edges) edges.push_back({edge.from, edge.to, edge.messages, edge.bytes});
  }
  Json json = {{"messages", total_messages(summary)},         {"bytes", total_bytes(summary)},
               {"edge_count", edge_count(summary)},           {"edges", edges},
               {"rank_messages", summary.wire.messages},      {"rank_bytes", summary.wire.bytes},
               {"evaluation_bytes", summary.evaluation_bytes}};
  if (summary.aggregated) add_aggregator_traffic(summary, json);
  return json;
}

std::string megabytes(std::int64_t bytes) {
  return fmt::format("{:.4g} MB", static_cast<double>(bytes) / 1e6);
}

std::string vertical_traffic_rows(const SummaryView& summary) {
  if (!summary.has("traffic.uplink_bits_per_round")) return "";
  return table_row("per round", fmt::format("{} bits up from all parties, {} bits down ({})",
                                            shown(summary.number("traffic.uplink_bits_per_round"), "{:.10g}"),
                                            shown(summary.number("traffic.downlink_bits_per_round"), "{:.10g}"),
                                            summary.text("traffic.downlink")));
}

/// None where there are more than were counted one by one.
std::optional<std::size_t> edges_of(const SummaryView& summary) {
  const std::size_t listed = summary.edges().size();
  if (const auto counted = summary.integer("traffic.edge_count")) return static_cast<std::size_t>(*counted);
  return listed > 0 ? std::optional(listed) : std::nullopt;
}

}  // namespace

Json edge_count(const Summary& summary) {
  for (const EdgeTraffic& edge : summary.edges) {
    if (edge.from < 0) return nullptr;
  }
  return summary.edges.size();
}

void add_traffic_keys(const Summary& summary, Json& json) {
  json["traffic"] = traffic_json(summary);
}

std::string traffic_rows(const SummaryView& summary) {
  const std::size_t edges = edges_of(summary).value_or(0);
  const std::string where = summary.flag("aggregated")
                                ? "to and from the aggregator, client 0"
                                : fmt::format("over {} edges", edges_of(summary) ? std::to_string(edges) : "many");
  std::string text = table_row(
      "messages", fmt::format("{} {}, {} (between ranks: {} messages, {})", summary.count("traffic.messages"), where,
                              megabytes(summary.count("traffic.bytes")), summary.count("traffic.rank_messages"),
                              megabytes(summary.count("traffic.rank_bytes"))));
  if (summary.has("traffic.uplink_bytes_per_round")) {
    text += table_row("per round", fmt::format("{} bytes up from all other clients, {} bytes down in one broadcast",
                                               shown(summary.number("traffic.uplink_bytes_per_round"), "{:.8g}"),
                                               shown(summary.number("traffic.downlink_bytes_per_round"), "{:.8g}")));
  }
  return text + vertical_traffic_rows(summary);
}

std::string edge_rows(const SummaryView& summary) {
  const std::vector<EdgeTraffic> first_edges = summary.edges();
  const std::size_t edges = edges_of(summary).value_or(first_edges.size());
  std::string text;
  const std::size_t listed = std::min(first_edges.size(), most_shown_edges);
  for (std::size_t i = 0; i < listed; ++i) {
    const EdgeTraffic& edge = first_edges[i];
    text += table_row(i == 0 ? "per edge" : "", fmt::format("{:>4} -> {:<4} {:>10} messages {:>14} bytes", edge.from,
                                                            edge.to, edge.messages, edge.bytes));
  }
  if (edges > listed) {
    text += table_row("", fmt::format("... {} more edges, in summary.json and /traffic of run.h5", edges - listed));
  }
  return text;
}

}  // namespace starling
