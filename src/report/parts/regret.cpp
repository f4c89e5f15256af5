// Regret.
#include "regret/regret.hpp"

#include <algorithm>
#include <limits>

#include "parts.hpp"

namespace starling {

namespace {

Json certificate_json(const Minimum& minimum, std::int64_t evaluations) {
  return {{"kind", name_of(minimum.kind)},
          {"value", number_json(minimum.certificate)},
          {"tolerance", number_json(minimum.tolerance)},
          {"reached", minimum.ending == Minimum::Ending::reached},
          {"evaluations", evaluations}};
}

void add_static(const StaticRegret& regret, Json& json) {
  const bool exists = regret.exists();
  json["static"] = exists ? number_json(regret.total()) : Json(nullptr);
  json["static_per_client_round"] = exists ? number_json(regret.per_client_round()) : Json(nullptr);
  json["comparator"] = regret.comparator.x;
  json["certificate"] = certificate_json(regret.comparator, regret.comparator.evaluations);
}

void add_dynamic(const DynamicRegret& regret, Json& json) {
  const bool exists = regret.exists();
  json["dynamic"] = exists ? number_json(regret.total()) : Json(nullptr);
  json["dynamic_per_client_round"] = exists ? number_json(regret.per_client_round()) : Json(nullptr);
  json["path_length"] = exists ? number_json(regret.path_length) : Json(nullptr);
  json["comparator_rounds"] = regret.rounds;
  Json certificate = certificate_json(regret.worst, regret.evaluations);
  certificate["reached"] = exists && regret.not_reached == 0 && regret.not_attained == 0;
  certificate["worst_round"] = regret.worst_round;
  certificate["rounds_not_reached"] = regret.not_reached;
  certificate["rounds_not_attained"] = regret.not_attained;
  certificate["rounds_tried_twice"] = regret.tried_twice;
  certificate["rounds_undetermined"] = regret.undetermined;
  json["dynamic_certificate"] = std::move(certificate);
}

Json growth_json(const std::optional<GrowthFit>& fit) {
  if (!fit) return nullptr;
  return {{"value", number_json(fit->exponent)},
          {"standard_error", number_json(fit->standard_error)},
          {"from_round", fit->from},
          {"points", fit->points}};
}

Json constrained_json(const std::vector<ConstrainedRegret>& regrets) {
  if (regrets.empty()) return nullptr;
  Json list = Json::array();
  for (const ConstrainedRegret& regret : regrets) {
    Json certificate = certificate_json(regret.comparator.minimum, regret.comparator.minimum.evaluations);
    certificate["violation"] = number_json(regret.comparator.violation);
    list.push_back({{"window", regret.window},
                    {"static", number_json(regret.total())},
                    {"static_per_client_round", number_json(regret.per_client_round())},
                    {"exponent", growth_json(regret.growth)},
                    {"comparator", regret.comparator.minimum.x},
                    {"certificate", std::move(certificate)}});
  }
  return list;
}

Json clients_json(const std::vector<ClientRegret>& clients) {
  if (clients.empty()) return nullptr;
  return json_list(clients, [](const ClientRegret& client) {
    return Json{{"rounds", client.rounds},
                {"played", number_json(client.played)},
                {"static", number_json(client.fixed)},
                {"dynamic", number_json(client.moving)}};
  });
}

std::string range_row(const std::string& name, const Json& clients, const char* key) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const Json& client : clients) {
    if (!client.is_object() || !client.contains(key) || !client[key].is_number()) continue;
    least = std::min(least, client[key].get<double>());
    most = std::max(most, client[key].get<double>());
  }
  if (least > most || clients.size() < 2) return "";
  return table_row(name, fmt::format("from {:.6g} to {:.6g} by client", least, most));
}

/// ", grows as t^0.51 (standard error 0.02)".
std::string growth_text(const SummaryView& summary, const std::string& kind) {
  const std::string path = "regret.exponent." + kind;
  const double exponent = summary.number(path + ".value");
  if (std::isnan(exponent)) return "";
  return fmt::format(", grows as t^{:.3f} (standard error {:.2g})", exponent, summary.number(path + ".standard_error"));
}

std::string regret_row(const SummaryView& summary, const std::string& kind, const std::string& none) {
  const double total = summary.number("regret." + kind);
  return table_row(kind + " regret",
                   std::isfinite(total) ? fmt::format("{:.6g}, {:.6g} per client-round ({} of them){}", total,
                                                      summary.number("regret." + kind + "_per_client_round"),
                                                      summary.count("regret.client_rounds"), growth_text(summary, kind))
                                        : none);
}

std::string certificate_text(const SummaryView& summary, const std::string& path, const std::string& after) {
  return fmt::format("{} {:.2g} after {} evaluations{} (tolerance {:.2g})", summary.text(path + ".kind"),
                     summary.number(path + ".value"), summary.count(path + ".evaluations"), after,
                     summary.number(path + ".tolerance"));
}

/// Against the models that keep the constraints.
std::string constrained_rows(const SummaryView& summary) {
  std::string text;
  for (const SummaryView& regret : summary.list("regret.constrained")) {
    const double window = regret.number("window");
    const double exponent = regret.number("exponent.value");
    text += table_row(std::isfinite(window) ? fmt::format("  windows of {:.0f}", window) : "  long-term budget",
                      fmt::format("{:.6g}, {:.6g} per client-round{}; comparator's {} {:.2g}, violation {:.2g}",
                                  regret.number("static"), regret.number("static_per_client_round"),
                                  std::isfinite(exponent) ? fmt::format(", grows as t^{:.3f}", exponent) : "",
                                  regret.text("certificate.kind"), regret.number("certificate.value"),
                                  regret.number("certificate.violation")));
  }
  return text;
}

std::string dynamic_rows(const SummaryView& summary) {
  std::string text = regret_row(summary, "dynamic", "none: see the note");
  text += range_row("", summary.array("regret.per_client"), "dynamic");
  const auto rounds = summary.count("regret.comparator_rounds");
  text += table_row(
      "path length",
      fmt::format("{} over {} rounds, {} per round", shown(summary.number("regret.path_length"), "{:.6g}"), rounds,
                  shown(summary.number("regret.path_length") / static_cast<double>(rounds), "{:.6g}")));
  return text + table_row("comparators", "worst " + certificate_text(summary, "regret.dynamic_certificate", " in all"));
}

Json regret_json(const Regret& regret) {
  Json json = {{"static", nullptr}, {"dynamic", nullptr}, {"path_length", nullptr}};
  if (regret.fixed) add_static(*regret.fixed, json);
  if (regret.moving) add_dynamic(*regret.moving, json);
  json["client_rounds"] = regret.client_rounds;
  json["played"] = number_json(regret.played);
  json["exponent"] = {{"static", growth_json(regret.curve.fixed_growth)},
                      {"dynamic", growth_json(regret.curve.moving_growth)}};
  json["constrained"] = constrained_json(regret.constrained);
  json["per_client"] = clients_json(regret.per_client);
  return json;
}

Json regret_json(const HindsightRegret& figures, Round rounds) {
  const double regret = figures.played - figures.hindsight;
  return {{"static", number_json(regret)},
          {"per_round", number_json(regret / static_cast<double>(rounds))},
          {"played", number_json(figures.played)},
          {"hindsight", number_json(figures.hindsight)},
          {"method", figures.method}};
}

void add_regret(const Summary& summary, Json& json) {
  json["regret"] = nullptr;
  if (const auto* const regret = summary.find<Regret>()) json["regret"] = regret_json(*regret);
  if (const auto* const of_networks = summary.find<HindsightRegret>()) {
    json["regret"] = regret_json(*of_networks, summary.rounds);
  }
}

std::string regret_rows(const SummaryView& summary) {
  std::string text;
  if (summary.has("regret.hindsight")) {
    text += table_row("static regret",
                      fmt::format("{} ({} a round), against {}", shown(summary.number("regret.static"), "{:.6g}"),
                                  shown(summary.number("regret.per_round"), "{:.6g}"), summary.text("regret.method")));
  }
  if (summary.has("regret.comparator")) {
    text += regret_row(summary, "static", "none: no model is best");
    text += range_row("", summary.array("regret.per_client"), "static");
    text += table_row("comparator", certificate_text(summary, "regret.certificate", ""));
    text += constrained_rows(summary);
  }
  if (summary.has("regret.dynamic_certificate")) text += dynamic_rows(summary);
  return text;
}

}  // namespace

const SummaryPart regret_part{add_regret, regret_rows};

}  // namespace starling
