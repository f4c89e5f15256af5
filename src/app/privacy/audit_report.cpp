#include "audit_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "privacy/statement/statement.hpp"
#include "report/view/summary_view.hpp"

namespace starling {

namespace {

using SortedJson = nlohmann::json;

constexpr std::size_t most_events_shown = 8;

const char* verdict(bool refuted) {
  return refuted ? "refuted" : "not refuted";
}

bool gaussian(const AuditResult& result) {
  return result.mu_claimed.has_value();
}

double bound_of(const AuditResult& result) {
  return gaussian(result) ? result.mu_lower_bound : result.epsilon_lower_bound;
}

double claim_of(const AuditResult& result) {
  return gaussian(result) ? *result.mu_claimed : result.epsilon_claimed;
}

std::string loss(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "unbounded";
}

std::string line(std::string_view name, const std::string& value) {
  return fmt::format("  {:<22}{}\n", name, value);
}

// Text.

std::string table_of(const AuditResult& pair) {
  std::string text = fmt::format("\n{}\n  {:>10}  {:>10}  {:>9}  {:>9}  {}\n", pair.subject, "side 0", "side 1",
                                 "epsilon >", gaussian(pair) ? "mu >" : "", "event");
  for (std::size_t e = 0; e < std::min(most_events_shown, pair.events.size()); ++e) {
    const AuditEvent& event = pair.events[e];
    text += fmt::format("  {:>10}  {:>10}  {:>9.4f}  {:>9}  {}\n", event.counts[0], event.counts[1],
                        event.epsilon_lower_bound, gaussian(pair) ? fmt::format("{:.4f}", event.mu_lower_bound) : "",
                        event.description);
  }
  if (pair.events.empty()) text += "  no event promised to tell the sides apart\n";
  if (pair.events.size() > most_events_shown) {
    text += fmt::format("  and {} event(s) with lower bounds (all of them with --json)\n",
                        pair.events.size() - most_events_shown);
  }
  return text;
}

std::string at_delta(double delta) {
  return delta > 0 ? fmt::format(" at delta = {:.6g}", delta) : "";
}

/// Share of the claim that the audit found, and whether the share is informative.
std::string recovered(const AuditReport& report) {
  const AuditResult& worst = report.worst();
  const double claim = claim_of(worst);
  const std::string found = fmt::format("{:.3f} of the claim", bound_of(worst) / claim);
  if (!report.refuted() && report.expected < 0.9 * claim) {
    return found +
           fmt::format(" (of exact noise {:.3f} is expected: too few samples to ask for 0.9)", report.expected / claim);
  }
  return found;
}

std::string text_of_pairs(const AuditReport& report) {
  const AuditResult& worst = report.worst();
  std::string text = line("samples", fmt::format("{} of each side judged; events were chosen on {} others of each",
                                                 worst.samples, worst.chosen_on));
  text += line("epsilon claimed", loss(worst.epsilon_claimed) + at_delta(worst.delta));
  text += line("epsilon, lower bound", loss(worst.epsilon_lower_bound) + " (95 %)");
  if (gaussian(worst)) {
    text += line("mu claimed", loss(*worst.mu_claimed));
    text += line("mu, lower bound", loss(worst.mu_lower_bound) + " (95 %)");
  }
  if (std::isfinite(worst.epsilon_claimed)) text += line("recovered", recovered(report));
  text += line("by the event", worst.event());
  for (const AuditResult& pair : report.pairs) text += table_of(pair);
  return text;
}

std::string text_of_run(const OneRunResult& run) {
  std::string text = line("canaries", fmt::format("{}, one in each round", run.scores.front().canaries));
  text += line("epsilon claimed", loss(run.epsilon_claimed) + at_delta(run.delta));
  text += line("epsilon, lower bound", loss(run.epsilon_lower_bound) + " (95 %)");
  for (const OneRunScore& score : run.scores) {
    text += line("guesses", fmt::format("{} of the {} surest are right", score.right, score.guesses));
  }
  return text;
}

// JSON.

SortedJson to_json(const AuditResult& pair) {
  SortedJson events = SortedJson::array();
  for (const AuditEvent& event : pair.events) {
    events.push_back({{"event", event.description},
                      {"likelier", event.likelier},
                      {"counts", event.counts},
                      {"epsilon_lower_bound", event.epsilon_lower_bound},
                      {"mu_lower_bound", gaussian(pair) ? SortedJson(event.mu_lower_bound) : SortedJson()}});
  }
  return {
      {"subject", pair.subject},
      {"epsilon_lower_bound", pair.epsilon_lower_bound},
      {"mu_lower_bound", gaussian(pair) ? SortedJson(pair.mu_lower_bound) : SortedJson()},
      {"verdict", verdict(pair.refuted)},
      {"events", events},
      {"histogram",
       {{"statistic", pair.histogram.statistic}, {"edges", pair.histogram.edges}, {"counts", pair.histogram.counts}}}};
}

void add_pairs(const AuditReport& report, SortedJson& object) {
  const AuditResult& worst = report.worst();
  object["epsilon_claimed"] = number_json(worst.epsilon_claimed);
  object["delta"] = worst.delta;
  object["epsilon_lower_bound"] = worst.epsilon_lower_bound;
  object["mu_claimed"] = gaussian(worst) ? SortedJson(*worst.mu_claimed) : SortedJson();
  object["mu_lower_bound"] = gaussian(worst) ? SortedJson(worst.mu_lower_bound) : SortedJson();
  object["recovered"] = number_json(bound_of(worst) / claim_of(worst));
  object["expected"] = number_json(report.expected);
  object["event"] = worst.event();
  object["samples"] = worst.samples;
  object["chosen_on"] = worst.chosen_on;
  object["pairs"] = json_list(report.pairs, [](const AuditResult& pair) { return to_json(pair); });
}

void add_run(const OneRunResult& run, SortedJson& object) {
  object["epsilon_claimed"] = number_json(run.epsilon_claimed);
  object["delta"] = run.delta;
  object["epsilon_lower_bound"] = run.epsilon_lower_bound;
  object["samples"] = run.scores.front().canaries;
  object["guesses"] = SortedJson::array();
  for (const OneRunScore& score : run.scores) {
    object["guesses"].push_back({{"guesses", score.guesses}, {"right", score.right}});
  }
}

}  // namespace

bool AuditReport::refuted() const {
  if (run) return run->refuted;
  if (sum && sum->too_much) return true;
  return std::ranges::any_of(pairs, [](const AuditResult& pair) { return pair.refuted; });
}

const AuditResult& AuditReport::worst() const {
  return *std::ranges::max_element(
      pairs, [](const AuditResult& a, const AuditResult& b) { return bound_of(a) < bound_of(b); });
}

std::string to_text(const AuditReport& report) {
  std::string text = fmt::format(
      "{}, unit {}, noise key {}{}{}\n", report.mechanism, name_of(report.unit), report.noise_key,
      report.protocol == "none" ? "" : ", as the protocol " + report.protocol + " sends it",
      report.trust == "none"
          ? ""
          : fmt::format(", {} of {} clients, trust {}", report.sum ? "releases" : "sum", report.clients, report.trust));
  if (report.correlation) text += line("noise correlation", report.correlation->text());
  if (report.sum) {
    text += line("noise of the sum", fmt::format("{:.3f} of the variance of the clients' own noise: pairs {}cancel",
                                                 report.sum->variance, report.sum->too_much ? "do not " : ""));
  }
  text += report.run ? text_of_run(*report.run) : text_of_pairs(report);
  for (const std::string& note : report.notes) text += "note: " + note + "\n";
  return text + fmt::format("\nVerdict (at 99.9 %): the claim is {}.{}\n", verdict(report.refuted()),
                            report.refuted() ? "" : " What is not refuted is not proved.");
}

std::string to_json(const AuditReport& report) {
  SortedJson object{{"command", "privacy audit"},
                    {"mechanism", report.mechanism},
                    {"protocol", report.protocol},
                    {"trust", report.trust},
                    {"clients", report.clients},
                    {"noise_of_sum", report.sum ? SortedJson(report.sum->variance) : SortedJson()},
                    {"noise_key", report.noise_key},
                    {"unit", name_of(report.unit)},
                    {"noise_correlation", report.correlation ? SortedJson(report.correlation->text()) : SortedJson()},
                    {"form", report.run ? "one run" : "pairs"},
                    {"verdict", verdict(report.refuted())},
                    {"notes", report.notes}};
  if (report.run) {
    add_run(*report.run, object);
  } else {
    add_pairs(report, object);
  }
  return object.dump();
}

}  // namespace starling
