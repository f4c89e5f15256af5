// Messages and bytes.
#include <algorithm>
#include <optional>

#include "parts.hpp"

namespace starling {

namespace {

constexpr std::size_t most_listed_edges = 1000;

std::int64_t total(const std::vector<EdgeTraffic>& edges, std::int64_t EdgeTraffic::*figure) {
  std::int64_t sum = 0;
  for (const EdgeTraffic& edge : edges) sum += edge.*figure;
  return sum;
}

/// Bits of vertical learning; messages for scores of test records do not count.
void add_bits(const MessageBits& bits, double rounds, Json& traffic) {
  traffic["uplink_bits_per_round"] = number_json(bits.up / rounds);
  traffic["downlink_bits_per_round"] = number_json(bits.down / rounds);
  traffic["downlink"] = bits.broadcast ? "one broadcast" : "a message to each party";
  traffic["uplink_bits"] = number_json(bits.up);
  traffic["downlink_bits"] = number_json(bits.down);
}

/// From all other clients to the aggregator, which is client 0, and one broadcast back, in bytes per round.
void add_bytes_per_round(const Summary& summary, Json& traffic) {
  double up = 0;
  double down = 0;
  for (const EdgeTraffic& edge : summary.get<RunTraffic>().edges) {
    (edge.to == 0 ? up : down) += static_cast<double>(edge.bytes);
  }
  const double listeners = std::max(1.0, static_cast<double>(summary.clients) - 1);
  const auto rounds = static_cast<double>(summary.rounds);
  traffic["uplink_bytes_per_round"] = number_json(up / rounds);
  traffic["downlink_bytes_per_round"] = number_json(down / listeners / rounds);
}

void add_traffic(const Summary& summary, Json& json) {
  const RunTraffic& traffic = summary.get<RunTraffic>();
  const Json count = edge_count(summary);
  Json listed = Json::array();
  if (traffic.edges.size() <= most_listed_edges && !count.is_null()) {
    for (const EdgeTraffic& edge : traffic.edges) listed.push_back({edge.from, edge.to, edge.messages, edge.bytes});
  }
  Json& all = json["traffic"];
  all = {{"messages", total(traffic.edges, &EdgeTraffic::messages)},
         {"bytes", total(traffic.edges, &EdgeTraffic::bytes)},
         {"edge_count", count},
         {"edges", listed},
         {"rank_messages", traffic.wire.messages},
         {"rank_bytes", traffic.wire.bytes},
         {"evaluation_bytes", traffic.evaluation_bytes}};
  if (const auto* const bits = summary.find<MessageBits>()) {
    add_bits(*bits, static_cast<double>(summary.rounds), all);
  } else if (summary.aggregated && summary.find<LearnedOnShares>() == nullptr) {
    add_bytes_per_round(summary, all);
  }
}

std::string megabytes(std::int64_t bytes) {
  return fmt::format("{:.4g} MB", static_cast<double>(bytes) / 1e6);
}

std::string bit_rows(const SummaryView& summary) {
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

std::string traffic_rows(const SummaryView& summary) {
  const std::size_t edges = edges_of(summary).value_or(0);
  const bool all_by_root =
      summary.has("traffic.uplink_bytes_per_round") || summary.has("traffic.uplink_bits_per_round");
  const std::string where = summary.flag("aggregated") && all_by_root
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
  return text + bit_rows(summary);
}

}  // namespace

const SummaryPart traffic_part{add_traffic, traffic_rows};

Json edge_count(const Summary& summary) {
  const std::vector<EdgeTraffic>& edges = summary.get<RunTraffic>().edges;
  const bool counted = std::ranges::none_of(edges, [](const EdgeTraffic& edge) { return edge.from < 0; });
  return counted ? Json(edges.size()) : Json(nullptr);
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
