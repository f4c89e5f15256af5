// Output of `starling doctor --predict`.
#include <nlohmann/json.hpp>

#include "doctor_predict.hpp"
#include "doctor_text.hpp"
#include "report/view/json.hpp"

namespace starling {

namespace {

std::string between_hosts(const Launch& launch) {
  if (launch.hosts == 1) return "none";
  const std::string rate =
      launch.bandwidth > 0 ? fmt::format("{:.4g} MB/s", 1e-6 * launch.bandwidth) : "unlimited bandwidth";
  return fmt::format("{} one way, {}", in_seconds(launch.latency), rate);
}

/// Only where there are any, and where their cost is from.
std::string of_messages(const Launch& launch, const Costs& costs) {
  if (launch.ranks == 1) return "";
  return fmt::format(", {} at either end of a message{}", in_seconds(costs.message),
                     launch.message ? " (as said)" : "");
}

}  // namespace

std::string prediction_table(const Launch& launch, const Costs& costs, const RoundForecast& prediction) {
  const double total = prediction.seconds();
  std::string text;
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<16}{}\n", name, value);
  };
  const auto part = [&](std::string_view name, double seconds) {
    row(name, fmt::format("{:>10}  {:3.0f} %", in_seconds(seconds), total > 0 ? 100 * seconds / total : 0));
  };
  row("launch", fmt::format("{} on {}, {} joined by {}, models of {}", counted(launch.ranks, "rank"),
                            counted(launch.hosts, "host"), counted(launch.clients, "client"), launch.topology,
                            counted(launch.dimension, "number")));
  row("between hosts", between_hosts(launch));
  row("measured here", fmt::format("{} a client's step ({}, logistic loss, exact Laplace noise)",
                                   in_seconds(costs.learning), counted(launch.batch, "record")));
  row("", fmt::format("{} a byte in mixing", in_seconds(costs.gathered)) + of_messages(launch, costs));
  row("\na round", fmt::format("{:>11}", in_seconds(total)));
  part("  learning", prediction.learning);
  part("  exchange", prediction.exchange());
  part("    messages", prediction.messages);
  part("    latency", prediction.latency);
  part("    bandwidth", prediction.bandwidth);
  part("  mixing", prediction.mixing);
  row("\nbound by", " " + bound_of(prediction));
  if (static_cast<double>(launch.ranks) > launch.cpus * launch.hosts) {
    text += "There are more ranks than CPUs: rounds take turns, and this is the least that they take.\n";
  }
  return text;
}

std::string prediction_json(const Launch& launch, const Costs& costs, const RoundForecast& prediction) {
  const std::string bound = bound_of(prediction);
  const Json json{
      {"prediction",
       {{"hosts", launch.hosts},
        {"ranks", launch.ranks},
        {"cpus", launch.cpus},
        {"latency", launch.latency},
        {"bandwidth", launch.bandwidth > 0 ? Json(launch.bandwidth) : Json()},
        {"clients", launch.clients},
        {"dimension", launch.dimension},
        {"batch", launch.batch},
        {"topology", launch.topology},
        {"costs", {{"learning", costs.learning}, {"gathered", costs.gathered}, {"message", costs.message}}},
        {"seconds", prediction.seconds()},
        {"learning", prediction.learning},
        {"exchange", prediction.exchange()},
        {"mixing", prediction.mixing},
        {"exchange_parts",
         {{"messages", prediction.messages}, {"latency", prediction.latency}, {"bandwidth", prediction.bandwidth}}},
        {"bound_by", bound.substr(0, bound.find(':'))}}}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace starling
