// Privacy figures.
#include "parts.hpp"
#include "privacy/statement/statement.hpp"

namespace starling {

namespace {

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
          {"stopped_after_round", budget->stopped_after}};
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
  return json_list(trust.collusion, [](const Collusion& each) {
    return Json{{"clients", each.clients},
                {"mu", number_json(each.record.mu)},
                {"epsilon", number_json(each.record.epsilon)},
                {"delta", number_json(each.record.delta)}};
  });
}

/// The mask keys that clients of rank 0 received; null without masks.
Json mask_keys_json(const Trust& trust) {
  if (trust.keys.empty()) return nullptr;
  return {{"fingerprint", trust.key_list}, {"clients", trust.keys}};
}

Json pairs_json(const std::optional<PairsTrust>& pairs, const std::string& keys) {
  if (!pairs) return nullptr;
  const auto loss = [](const PrivacyLoss& each) {
    return Json{
        {"epsilon", number_json(each.epsilon)}, {"delta", number_json(each.delta)}, {"mu", number_json(each.mu)}};
  };
  return {{"collusion", pairs->colluding},
          {"ratio", pairs->ratio},
          {"exposure", pairs->exposure},
          {"pairs", pairs->pairs},
          {"least_partners", pairs->least_partners},
          {"digest", pairs->digest},
          {"keys", keys},
          {"outsiders", loss(pairs->outsiders)},
          {"all_others", loss(pairs->all_others)}};
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

Json histograms_json(const std::optional<HistogramReport>& released) {
  if (!released) return nullptr;
  return {{"share", released->share},
          {"epsilon", number_json(released->record.epsilon)},
          {"delta", number_json(released->record.delta)},
          {"mu", number_json(released->record.mu)}};
}

Json privacy_json(const Summary& summary) {
  const PrivacyReport& privacy = summary.get<PrivacyReport>();
  if (!summary.learned) {
    return {{"mechanism", "none"},
            {"participations", 0},
            {"epsilon", 0},
            {"client_epsilon", 0},
            {"statement", "No record was used: the clients averaged public start values."}};
  }
  Json json{{"mechanism", privacy.mechanism},
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
            {"pairs", pairs_json(privacy.trust.pairs, privacy.trust.key_list)},
            {"paper", paper_json(privacy.trust.paper)},
            {"shared_metrics", privacy.shared_metrics},
            {"dealt_by", privacy.dealt_by.empty() ? Json() : Json(privacy.dealt_by)},
            {"run_id", privacy.run_id},
            {"norms", histograms_json(privacy.norms)},
            {"features", histograms_json(privacy.features)},
            {"scores", histograms_json(privacy.scores)},
            {"ledger", ledger_json(privacy.ledger, privacy.unit)},
            {"budget", budget_json(privacy.budget)},
            {"audit", audit_json(privacy.audit)},
            {"in_short", in_short(privacy)},
            {"weaknesses", weaknesses_of(privacy)},
            {"statement", statement(privacy)}};
  if (privacy.at_all_clients) {
    json["all_clients_epsilon"] = number_json(privacy.at_all_clients->epsilon);
    json["all_clients_delta"] = number_json(privacy.at_all_clients->delta);
  }
  return json;
}

std::string epsilon_text(double epsilon) {
  return std::isfinite(epsilon) ? fmt::format("{:.6g}", epsilon) : "unbounded";
}

/// " at delta = 1e-05, mu = 0.5", as far as there is something to say.
std::string beside_epsilon(const SummaryView& summary, const std::string& delta, const std::string& mu) {
  std::string text;
  if (summary.number(delta) > 0) text += fmt::format(" at delta = {:.3g}", summary.number(delta));
  if (std::isfinite(summary.number(mu))) text += fmt::format(", mu = {:.6g}", summary.number(mu));
  return text;
}

void add_privacy(const Summary& summary, Json& json) {
  json["privacy"] = privacy_json(summary);
}

std::string privacy_rows(const SummaryView& summary) {
  if (!summary.learned()) return "";
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
                      epsilon_text(summary.number("privacy.record_epsilon")) +
                          (unit == "person" ? "  (no more than its person)" : "  (all components of its gradient)"));
  }
  if (summary.has("privacy.pairs.collusion")) {
    text += table_row("hidden by pairs",
                      fmt::format("epsilon = {} against outsiders alone, as above if {} client(s) help them, {} if all "
                                  "others do",
                                  epsilon_text(summary.number("privacy.pairs.outsiders.epsilon")),
                                  summary.count("privacy.pairs.collusion"),
                                  epsilon_text(summary.number("privacy.pairs.all_others.epsilon"))));
  }
  if (summary.number("privacy.budget.stopped_clients") > 0) {
    text += table_row("budget",
                      fmt::format("spent: learning ended after round {} of {}, at {} of {} clients by the end",
                                  summary.count("privacy.budget.stopped_after_round"), summary.count("rounds_planned"),
                                  summary.count("privacy.budget.stopped_clients"), summary.count("clients")));
  }
  return text + table_row("epsilon per client",
                          fmt::format("{}  (all records of a client; {} for one {} in every batch)",
                                      epsilon_text(summary.number("privacy.client_epsilon")),
                                      epsilon_text(summary.number("privacy.one_per_batch_epsilon")), unit));
}

}  // namespace

const SummaryPart privacy_part{add_privacy, privacy_rows};

}  // namespace starling
