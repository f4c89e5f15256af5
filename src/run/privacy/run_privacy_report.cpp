// Figures of the privacy of a run, for its summary and its statement.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/text/per_client.hpp"
#include "histogram_charges.hpp"
#include "net/agreement.hpp"
#include "noise_keys.hpp"
#include "privacy/accounting/accounting.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/ledger/ledger.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/mechanism/multipart_mechanism.hpp"
#include "privacy/mechanism/paper_perturbation.hpp"
#include "privacy/statement/statement.hpp"
#include "run/identity/introductions.hpp"
#include "run/privacy/pairs/run_pairs.hpp"
#include "run_privacy.hpp"

namespace starling {

/// **Collective.**
static ClientLosses worst_of_all(Agreement& agreement, const ClientLosses& here) {
  ClientLosses of_all;
  for (const std::string& each : agreement.all_gather(declare_public(here.text()))) {
    of_all.take_worse(ClientLosses::parse(each));
  }
  return of_all;
}

PrivacyReport RunPrivacy::finish(bool stopped) {
  agreement_.together([&] { accounts_->close(stopped ? LedgerEnd::stopped : LedgerEnd::finished); });
  const ClientLosses of_all = worst_of_all(agreement_, accounts_->worst_losses(options_.delta));
  PrivacyReport report = privacy_report(*protection_, options_.mechanism_row().name, key_policy(), of_all,
                                        layout_.clients(), options_.delta);
  report.public_data = facts_.public_data;
  report.units = units_;
  report.vectors = vectors_of_release();
  if (histograms_) histograms_->describe(report, delta_of_claims());
  if (most_scored_ == 0) report.scores.reset();  // planned, and no client's ledger has it
  report.trust.sealed = facts_.sealed;
  report.trust.keys_signed = facts_.introductions != nullptr;
  if (facts_.introductions) report.members = facts_.introductions->members();
  describe_trust(report);
  if (options_.persons_shared) {
    // A person at all clients moves all of them at once, which pairs do not hide.
    const PrivacyLoss& alone = report.trust.pairs ? report.trust.pairs->all_others : report.own();
    report.at_all_clients = loss_in_clients(alone, layout_.clients());
  }
  report.ledger = ledger_report();
  if (options_.budget) report.budget = budget_report();
  return report;
}

int RunPrivacy::vectors_of_release() const {
  if (const auto* multipart = dynamic_cast<const MultipartMechanism*>(protection_.get())) {
    return static_cast<int>(multipart->releases());
  }
  return facts_.second ? 2 : 1;
}

void RunPrivacy::describe_trust(PrivacyReport& report) const {
  if (facts_.vertical) {
    report.trust.aggregated = true;  // by a fusion centre: nobody is trusted, or nothing protected
    report.trust.vertical = VerticalTrust{*facts_.vertical};
    if (facts_.vertical->baseline_central) report.losses.claim_nothing();
    if (facts_.vertical->on_shares && report.own().mu && std::isfinite(report.own().epsilon)) {
      report.trust.vertical->collusion = collusions_on_shares(report.own(), facts_.vertical->parties);
    }
    report.trust.vertical->in_all_parties = loss_in_clients(report.own(), facts_.vertical->holders());
    return;
  }
  report.trust.aggregated = facts_.trust.has_value();
  report.trust.sends_models = facts_.sends_models;
  if (facts_.pairs) {
    const auto mu = [](const std::optional<HistogramReport>& released) {
      return released ? released->record.mu.value_or(0) : 0;
    };
    report.trust.model = TrustModel::pairs;
    report.trust.pairs =
        facts_.pairs->describe(report.own(), std::hypot(mu(report.norms), mu(report.features)), mu(report.scores));
    report.trust.key_list = fingerprint(public_keys_of_pairs_);
    return;
  }
  if (!facts_.trust) return;
  report.trust.model = *facts_.trust;
  report.trust.of_rank_0 = layout_.count(0);
  if (*facts_.trust == TrustModel::masked && report.own().mu)
    report.trust.collusion = collusions(report.own(), report.clients, layout_.count(0));
  if (const auto* paper = dynamic_cast<const PaperPerturbation*>(protection_.get())) {
    const double records = static_cast<double>(facts_.batch) * static_cast<double>(report.clients);
    report.trust.paper = paper_claim(*paper, records, report.losses.releases);
  }
}

/// **Collective.**
BudgetReport RunPrivacy::budget_report() {
  BudgetReport budget;
  budget.least = limits_->range().least;
  budget.most = limits_->range().most;
  budget.of_client = options_.budget_of_client;
  budget.stopped = agreement_.sum(declare_public(static_cast<std::int64_t>(accounts_->stopped())));
  budget.stopped_after = least_of_all(accounts_->stopped_after());
  return budget;
}

/// With its ledger one of this rank's clients for all that have spent the same by its account.
std::vector<std::pair<const Ledger*, Client>> RunPrivacy::different_clients() const {
  std::vector<std::pair<const Ledger*, Client>> clients;
  for (std::size_t k = 0; k < ledgers_.size(); ++k) {
    const ClientRange own = clients_of(k);
    for (const ClientRange& cohort : ledgers_[k].book().cohorts()) {
      const Client u = std::max(own.first, cohort.first);
      if (own.has(u) && cohort.has(u)) clients.emplace_back(&ledgers_[k], u);
    }
  }
  return clients;
}

/// Whether a run of a ledger may have released anything: one that was refused before its first round has not.
static bool may_have_released(const LedgerEntry& entry) {
  return std::ranges::any_of(entry.accounts, [](const auto& account) { return account.second.reserved > 0; });
}

/// **Collective.**
LedgerReport RunPrivacy::ledger_report() {
  ClientLosses worst;
  std::int64_t earlier = 0;
  std::string heads;
  agreement_.together([&] {
    for (const auto& [ledger, u] : different_clients()) {
      const auto record = ledger->book().spent(u, level_of(protection_->unit()));
      const auto client = ledger->book().spent(u, LossLevel::client);
      ClientLosses losses;
      losses.record = compose(record, options_.delta.value_or(default_delta(record)));
      losses.client = compose(client, options_.delta.value_or(default_delta(client)));
      worst.take_worse(losses);
      const auto& entries = ledger->book().entries();
      const auto runs = std::ranges::count_if(entries, [this](const LedgerEntry& entry) {
        return !is_of_histograms(entry.run.id) && (entry.run.id == run_id_ || may_have_released(entry));
      });
      earlier = std::max(earlier, static_cast<std::int64_t>(runs) - 1);
    }
    for (const Ledger& ledger : ledgers_) heads += (heads.empty() ? "" : " ") + ledger.head();
  });
  LedgerReport report;
  report.scope = options_.ledger ? LedgerReport::Scope::owner : LedgerReport::Scope::run;
  report.path = options_.ledger ? name_of_client(*options_.ledger, 0) : "private/<rank>/ledger";
  const ClientLosses of_all = worst_of_all(agreement_, worst);
  report.client = of_all.client;
  report.record = of_all.record;
  report.earlier_runs = std::max(report.earlier_runs, agreement_.max(declare_public(earlier)));
  for (const std::string& each : agreement_.all_gather(declare_public(heads))) {
    std::istringstream words(each);
    for (std::string head; words >> head;) report.heads.push_back(head);
  }
  return report;
}

}  // namespace starling
