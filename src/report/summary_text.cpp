#include "mixing_text.hpp"
#include "regret_text.hpp"
#include "vertical_text.hpp"
#include <algorithm>
#include <cmath>
#include <sstream>

#include <nlohmann/json.hpp>

#include "starling/files/text_files.hpp"
#include "starling/report/summary.hpp"
#include "starling/report/summary_view.hpp"

namespace starling {

namespace {

constexpr std::size_t most_listed_edges = 1000;

double mean(double total, std::int64_t count) {
  return count > 0 ? total / static_cast<double>(count) : std::nan("");
}

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

/// On --test if there is one, else progressive, else unknown.
double accuracy_of(const Summary& summary) {
  if (!summary.classifies) return std::nan("");
  if (summary.test_metrics) return summary.test_metrics->accuracy;
  const auto& score = summary.test ? summary.test : summary.progressive;
  return score ? mean(static_cast<double>(score->correct), score->records) : std::nan("");
}

Json ledger_json(const LedgerReport& ledger, PrivacyUnit unit) {
  if (ledger.scope == LedgerReport::Scope::none) return nullptr;
  return {{"scope", ledger.scope == LedgerReport::Scope::owner ? "owner" : "run"},
          {"path", ledger.path},
          {"heads", ledger.heads},
          {"earlier_runs", ledger.earlier_runs},
          {std::string(name_of(unit)) + "_epsilon", number_json(ledger.record.epsilon)},
          {std::string(name_of(unit)) + "_delta", number_json(ledger.record.delta)},
          {"client_epsilon", number_json(ledger.client.epsilon)},
          {"client_delta", number_json(ledger.client.delta)}};
}

Json budget_json(const std::optional<BudgetReport>& budget) {
  if (!budget) return nullptr;
  return {{"epsilon", number_json(budget->least)},
          {"most_epsilon", number_json(budget->most)},
          {"unit", budget->of_client ? "client" : "record"},
          {"stopped_clients", budget->stopped},
          {"stopped_after_round", budget->stopped_after ? Json(*budget->stopped_after) : Json()}};
}

Json audit_json(const std::optional<OneRunResult>& audit) {
  if (!audit) return nullptr;
  return {{"epsilon_claimed", number_json(audit->epsilon_claimed)},
          {"epsilon_lower_bound", number_json(audit->epsilon_lower_bound)},
          {"delta", number_json(audit->delta)},
          {"canaries", audit->scores.empty() ? 0 : audit->scores.front().canaries},
          {"verdict", audit->refuted ? "refuted" : "not refuted"}};
}

Json collusion_json(const Trust& trust) {
  Json list = Json::array();
  for (const Collusion& each : trust.collusion) {
    list.push_back({{"clients", each.clients},
                    {"mu", number_json(each.record.mu)},
                    {"epsilon", number_json(each.record.epsilon)},
                    {"delta", number_json(each.record.delta)}});
  }
  return list;
}

/// What the clients of rank 0 received; null without masks.
Json mask_keys_json(const Trust& trust) {
  if (trust.keys.empty()) return nullptr;
  return {{"fingerprint", trust.key_list}, {"clients", trust.keys}};
}

Json paper_json(const std::optional<PaperClaim>& claim) {
  if (!claim) return nullptr;
  return {{"epsilon_per_release", number_json(claim->epsilon)},
          {"delta_per_release", number_json(claim->delta)},
          {"releases", claim->releases},
          {"condition_2_fails", claim->unmet},
          {"composed_epsilon", number_json(claim->composed.epsilon)},
          {"composed_delta", number_json(claim->composed.delta)},
          {"composed_epsilon_by_noise", number_json(claim->epsilon_by_noise)}};
}

Json privacy_json(const Summary& summary) {
  const PrivacyReport& privacy = summary.privacy;
  if (!summary.learned) {
    return {{"mechanism", "none"},
            {"participations", 0},
            {"epsilon", 0},
            {"client_epsilon", 0},
            {"statement", "No record was used: the clients averaged public start values."}};
  }
  return {{"mechanism", privacy.mechanism},
          {"noise_key", name_of(privacy.noise_key)},
          {"unit", name_of(privacy.unit)},
          {"epsilon_per_release", number_json(privacy.release.epsilon)},
          {"delta_per_release", number_json(privacy.release.delta)},
          {"mu_per_release", number_json(privacy.release.mu)},
          {"epsilon", number_json(privacy.own().epsilon)},
          {"delta", number_json(privacy.own().delta)},
          {"mu", number_json(privacy.own().mu)},
          {"renyi", number_json(privacy.own().renyi)},
          {"method", privacy.own().method},
          {"participations", privacy.losses.participations},
          {"component_epsilon", number_json(privacy.losses.component.epsilon)},
          {"record_epsilon", number_json(privacy.losses.record.epsilon)},
          {"one_per_batch_epsilon", number_json(privacy.losses.one_per_batch.epsilon)},
          {"one_per_batch_delta", number_json(privacy.losses.one_per_batch.delta)},
          {"client_epsilon", number_json(privacy.losses.client.epsilon)},
          {"client_delta", number_json(privacy.losses.client.delta)},
          {"client_mu", number_json(privacy.losses.client.mu)},
          {"releases", privacy.losses.releases},
          {"clip", number_json(privacy.clip)},
          {"private", privacy.is_private()},
          {"trust", name_of(privacy.trust.model)},
          {"recipients", recipients_of(privacy.trust)},
          {"collusion", collusion_json(privacy.trust)},
          {"mask_keys", mask_keys_json(privacy.trust)},
          {"paper", paper_json(privacy.trust.paper)},
          {"shared_metrics", privacy.shared_metrics},
          {"dealt_by", privacy.dealt_by.empty() ? Json() : Json(privacy.dealt_by)},
          {"run_id", privacy.run_id},
          {"ledger", ledger_json(privacy.ledger, privacy.unit)},
          {"budget", budget_json(privacy.budget)},
          {"audit", audit_json(privacy.audit)},
          {"statement", statement(privacy)}};
}

/// Null where there are more than were counted one by one.
Json edge_count(const Summary& summary) {
  for (const EdgeTraffic& edge : summary.edges) {
    if (edge.from < 0) return nullptr;
  }
  return summary.edges.size();
}

/// From all clients to the aggregator, which is client 0, and one broadcast back, in bytes per round.
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

Json pace_json(const Summary& summary) {
  return {{"mode", !summary.deadline       ? "synchronous"
                   : *summary.deadline > 0 ? "deadline"
                                           : "asynchronous"},
          {"deadline", number_json(summary.deadline)},
          {"reproducible", !summary.deadline.has_value()},
          {"least_rounds", summary.least_rounds},
          {"most_rounds", summary.most_rounds}};
}

Json metrics_json(const Summary& summary) {
  Json metrics = Json::object();
  if (summary.test) {
    metrics["test_loss"] = number_json(mean(summary.test->loss, summary.test->records));
    if (summary.classifies) {
      metrics["test_accuracy"] = number_json(mean(static_cast<double>(summary.test->correct), summary.test->records));
    }
  }
  if (summary.test_metrics) add_test_metrics(*summary.test_metrics, metrics);
  if (summary.progressive && summary.classifies) {
    metrics["progressive_accuracy"] =
        number_json(mean(static_cast<double>(summary.progressive->correct), summary.progressive->records));
  }
  if (summary.vertical) add_vertical_metrics(*summary.vertical, metrics);
  const std::string here = "metrics.";
  for (const std::string& name : summary.withheld) {
    if (name.starts_with(here)) metrics[name.substr(here.size())] = nullptr;
  }
  return metrics;
}

/// Breaks a paragraph at spaces.
std::string wrapped(const std::string& paragraph, std::size_t width) {
  std::string text;
  std::size_t column = 0;
  std::istringstream words(paragraph);
  for (std::string word; words >> word;) {
    const bool fits = column + word.size() < width;
    if (column > 0) text += fits ? ' ' : '\n';
    column = (fits ? column + 1 : 0) + word.size();
    text += word;
  }
  return text;
}

std::string epsilon_text(double epsilon) {
  return std::isfinite(epsilon) ? fmt::format("{:.6g}", epsilon) : "unbounded";
}

std::string megabytes(std::int64_t bytes) {
  return fmt::format("{:.4g} MB", static_cast<double>(bytes) / 1e6);
}

std::string traffic_rows(const SummaryView& summary, const std::vector<EdgeTraffic>& first_edges) {
  const auto counted = summary.integer("traffic.edge_count");
  const auto edges = static_cast<std::size_t>(counted.value_or(static_cast<std::int64_t>(summary.edges().size())));
  const bool uncounted = !counted && edges == 0;  // there are more than were counted one by one
  const std::string where = summary.flag("aggregated")
                                ? "to and from the aggregator, client 0"
                                : fmt::format("over {} edges", uncounted ? "many" : std::to_string(edges));
  std::string text = table_row(
      "messages", fmt::format("{} {}, {} (between ranks: {} messages, {})", summary.count("traffic.messages"), where,
                              megabytes(summary.count("traffic.bytes")), summary.count("traffic.rank_messages"),
                              megabytes(summary.count("traffic.rank_bytes"))));
  if (summary.has("traffic.uplink_bytes_per_round")) {
    text += table_row("per round", fmt::format("{} bytes up from all clients, {} bytes down in one broadcast",
                                               shown(summary.number("traffic.uplink_bytes_per_round"), "{:.8g}"),
                                               shown(summary.number("traffic.downlink_bytes_per_round"), "{:.8g}")));
  }
  text += vertical_traffic_rows(summary);
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

/// " at delta = 1e-05, mu = 0.5", as far as there is something to say.
std::string beside_epsilon(const SummaryView& summary, const std::string& delta, const std::string& mu) {
  std::string text;
  if (summary.number(delta) > 0) text += fmt::format(" at delta = {:.3g}", summary.number(delta));
  if (std::isfinite(summary.number(mu))) text += fmt::format(", mu = {:.6g}", summary.number(mu));
  return text;
}

std::string privacy_rows(const SummaryView& summary) {
  const double epsilon = summary.number("privacy.epsilon");
  const std::string unit = summary.text("privacy.unit");
  std::string text = table_row(
      "epsilon per " + unit,
      fmt::format("{}{}{}  ({} x {} per release, unit {}, mechanism {})", epsilon_text(epsilon),
                  beside_epsilon(summary, "privacy.delta", "privacy.mu"),
                  summary.flag("privacy.private") || !std::isfinite(epsilon) ? "" : ", but see below",
                  summary.count("privacy.participations"), epsilon_text(summary.number("privacy.epsilon_per_release")),
                  unit, summary.text("privacy.mechanism")));
  if (unit != "record" && summary.has("privacy.record_epsilon")) {
    text += table_row("epsilon per record",
                      epsilon_text(summary.number("privacy.record_epsilon")) + "  (all components of its gradient)");
  }
  if (summary.number("privacy.budget.stopped_clients") > 0) {
    text += table_row("budget",
                      fmt::format("spent: learning ended after round {} of {}, at {} of {} clients by the end",
                                  summary.count("privacy.budget.stopped_after_round"), summary.count("rounds_planned"),
                                  summary.count("privacy.budget.stopped_clients"), summary.count("clients")));
  }
  return text +
         table_row("epsilon per client", fmt::format("{}  (all records of a client; {} for one record in every batch)",
                                                     epsilon_text(summary.number("privacy.client_epsilon")),
                                                     epsilon_text(summary.number("privacy.one_per_batch_epsilon"))));
}

std::string score_rows(const SummaryView& summary) {
  const std::string loss =
      summary.withholds("loss.mean")
          ? "withheld: in private/, for each owner (--metrics shared shows it)"
          : fmt::format("{} mean, {} over the last tenth", shown(summary.number("loss.mean"), "{:.6f}"),
                        shown(summary.number("loss.last"), "{:.6f}"));
  std::string text = table_row("loss", loss);
  const bool tested = summary.has("metrics.test_loss");
  if (tested) text += table_row("test loss", shown(summary.number("metrics.test_loss"), "{:.6f}"));
  text += vertical_metric_rows(summary);
  if (!summary.classifies()) return text;
  if (summary.has("metrics.balanced_accuracy")) return text + test_metric_rows(summary);
  const double accuracy = summary.number("accuracy");
  std::string cell = "-";
  if (std::isfinite(accuracy)) {
    cell = fmt::format("{:.2f} % {}", 100 * accuracy,
                       !tested                      ? "progressive"
                       : summary.flag("aggregated") ? "on --test"
                                                    : "on --test, mean over clients");
  } else if (summary.withholds("accuracy")) {
    cell = summary.has("traffic.uplink_bits_per_round") ? "withheld: in private/ (--metrics shared shows it)"
                                                        : "withheld: in private/ (name a public --test set to see one)";
  }
  return text + table_row("accuracy", cell);
}

/// Notes, the statement on privacy, and where all this comes from.
std::string last_rows(const SummaryView& summary) {
  std::string text;
  for (const std::string& note : summary.texts("notes")) text += table_row("note", note);
  if (summary.learned()) text += "\n" + wrapped("Privacy. " + summary.text("privacy.statement"), 110) + "\n";
  return text + fmt::format("\nResults    {}\nCommand    {}\n", summary.text("output"), summary.text("command_line"));
}

}  // namespace

std::string table_row(const std::string& name, const std::string& value) {
  return fmt::format("  {:<22}{}\n", name, value);
}

std::string shown(double value, const char* format) {
  return std::isfinite(value) ? fmt::vformat(format, fmt::make_format_args(value)) : "-";
}

std::string figure_rows(const SummaryView& summary) {
  std::string text = summary.learned() ? score_rows(summary) : "";
  if (summary.flag("aggregated")) return text;
  text += table_row("consensus error", fmt::format("{}  (mean squared distance of a client to the mean model)",
                                                   shown(summary.number("consensus_error"), "{:.3e}")));
  const double in_flight = summary.number("mass_in_flight");
  const std::string under_way = in_flight > 0 ? fmt::format(" + {:.6g} under way", in_flight) : "";
  return text +
         table_row("mass", fmt::format("{}{}  (sum of the clients' weights; {} is right)",
                                       shown(summary.number("mass"), "{:.12g}"), under_way, summary.count("clients")));
}

Json resumed_json(const std::vector<LeftOut>& left_out) {
  Json all = Json::array();
  for (const auto& [from, at, charged] : left_out) {
    all.push_back({{"from", from}, {"at", at}, {"lost_rounds", at - from}, {"charged", charged}});
  }
  return all;
}

Json json_of(const Summary& summary) {
  Json json;
  json["command"] = summary.command;
  json["command_line"] = summary.command_line;
  json["task"] = name_of(!summary.learned     ? Scores::none
                         : summary.classifies ? Scores::losses_and_accuracies
                                              : Scores::losses);
  json["clients"] = summary.clients;
  json["ranks"] = summary.ranks;
  json["rounds"] = summary.rounds;
  json["rounds_planned"] = summary.rounds_planned;
  if (!summary.left_out.empty()) json["resumed"] = resumed_json(summary.left_out);
  json["dimension"] = summary.dimension;
  json["average"] = summary.average;
  json["loss"] = {
      {"mean", summary.progressive ? number_json(mean(summary.progressive->loss, summary.progressive->records))
                                   : Json(nullptr)},
      {"last", summary.last_loss ? number_json(*summary.last_loss) : Json(nullptr)}};
  if (summary.objective) json["objective"] = number_json(*summary.objective);
  json["accuracy"] = number_json(accuracy_of(summary));
  json["metrics"] = metrics_json(summary);
  if (summary.aggregated || !summary.intervals.empty()) json["intervals"] = intervals_json(summary.intervals);
  if (summary.interval_records) json["interval_records"] = number_json(*summary.interval_records);
  if (Json own = per_client_json(summary.intervals); !own.empty()) json["per_client"] = std::move(own);
  if (summary.joint) {
    json["joint"] = {{"names", summary.joint->names},
                     {"statistic", number_json(summary.joint->statistic)},
                     {"critical", number_json(summary.joint->critical)},
                     {"level", number_json(summary.joint->level)}};
  }
  if (!summary.study.empty()) json["study"] = study_json(summary.study);
  json["aggregated"] = summary.aggregated;
  json["consensus_error"] = summary.aggregated ? Json(nullptr) : number_json(summary.consensus_error);
  json["mass"] = summary.aggregated ? Json(nullptr) : number_json(summary.mass);
  json["mass_in_flight"] = number_json(summary.in_flight);
  json["pace"] = pace_json(summary);
  add_mixing_figures(summary, json);
  json["regret"] = summary.vertical ? vertical_regret_json(*summary.vertical) : regret_json(summary.regret);
  json["constraints"] = constraints_json(summary.constraints);
  json["privacy"] = privacy_json(summary);
  json["traffic"] = traffic_json(summary);
  const double busy =
      summary.shares.learning + summary.shares.exchange + summary.shares.mixing + summary.shares.observing;
  json["time"] = {{"wall", summary.wall},
                  {"rounds_per_second", number_json(static_cast<double>(summary.rounds) / summary.wall)},
                  {"shares",
                   {{"learning", number_json(summary.shares.learning / busy)},
                    {"exchange", number_json(summary.shares.exchange / busy)},
                    {"mixing", number_json(summary.shares.mixing / busy)},
                    {"observing", number_json(summary.shares.observing / busy)}}}};
  json["final_model"] = summary.final_model;
  if (summary.models) {
    Json models = Json::array();
    for (std::size_t u = 0; u < summary.models->size(); ++u) {
      const View x = (*summary.models)[u];
      models.push_back(Vector(x.begin(), x.end()));
    }
    json["models"] = models;
  }
  json["withheld"] = summary.withheld;
  json["notes"] = summary.notes;
  json["output"] = summary.run_directory;
  return json;
}

std::string table_of(const SummaryView& summary, const std::vector<EdgeTraffic>& first_edges) {
  std::string text = fmt::format("starling {}: {} clients on {} ranks, {} of {} rounds, dimension {}\n\n",
                                 summary.text("command"), summary.count("clients"), summary.count("ranks"),
                                 summary.count("rounds"), summary.count("rounds_planned"), summary.count("dimension"));
  if (const std::string table = regression_table(summary); !table.empty()) text += table + "\n";
  if (summary.has("joint.statistic")) {
    const double statistic = summary.number("joint.statistic");
    const double critical = summary.number("joint.critical");
    text += fmt::format(
        "  All but the intercept zero? Statistic {:.5g}, exceeds {:.5g} in {:.3g} % of cases if so: {}\n\n", statistic,
        critical, 100 * (1 - summary.number("joint.level")), statistic > critical ? "rejected" : "not rejected");
  }
  if (const std::vector<StudyCell> study = study_of(summary); !study.empty()) {
    return text + study_table(study) + "\n" + table_row("time", shown(summary.number("time.wall"), "{:.3f} s")) +
           last_rows(summary);
  }
  text += figure_rows(summary);
  text += mixing_rows(summary);
  if (summary.has("pace.deadline") && std::isfinite(summary.number("pace.deadline"))) {
    text += table_row("pace", fmt::format("not in step ({}): ranks played {} to {} rounds; not reproducible",
                                          summary.text("pace.mode"), summary.count("pace.least_rounds"),
                                          summary.count("pace.most_rounds")));
  }
  text += interval_rows(summary);
  text += regret_rows(summary);
  text += constraint_rows(summary);
  if (summary.learned()) text += privacy_rows(summary);
  text += traffic_rows(summary, first_edges);
  text +=
      table_row("speed", fmt::format("{} rounds/s ({} s)", shown(summary.number("time.rounds_per_second"), "{:.0f}"),
                                     shown(summary.number("time.wall"), "{:.3f}")));
  return text + last_rows(summary);
}

std::string to_json(const Summary& summary) {
  // A file name need not be UTF-8; JSON must be.
  return json_of(summary).dump(2, ' ', false, Json::error_handler_t::replace);
}

// By way of the JSON: what a run shows at its end is what summary.json alone can show again.
std::string to_table(const Summary& summary) {
  const bool all_counted = !edge_count(summary).is_null();
  return table_of(SummaryView(json_of(summary), "summary.json"),
                  all_counted ? summary.edges : std::vector<EdgeTraffic>());
}

void write_summary(const RunDirectory& directory, const Summary& summary) {
  write_text(directory.summary_file(), to_json(summary) + "\n");
}

}  // namespace starling
