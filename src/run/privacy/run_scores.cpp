// The release of sums of scores after the last round, which ledgers have from the start of the run.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "histogram_charges.hpp"
#include "net/agreement.hpp"
#include "privacy/histograms/score_sums.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/ledger/ledger.hpp"
#include "run_privacy.hpp"

namespace starling {

Charge RunPrivacy::charge_of_scores(Client u) const {
  return Charge::gaussian(histograms_->prices().scores->at(u, 0));
}

/// Whether client first + k has sums to release, and can pay for them and for its rounds.
bool RunPrivacy::affords_scores(std::size_t k) const {
  const ServedRounds& served = facts_.served[k];
  return served.begin == 0 && !served.lost && served.records.value_or(0) > 0 && affords_rounds(k, true);
}

bool RunPrivacy::affords_rounds(std::size_t k, bool with_scores) const {
  const ServedRounds& served = facts_.served[k];
  const std::int64_t records = served.records.value_or(0);
  if (!options_.budget || served.lost || records == 0) return true;
  PlannedCharges planned;
  if (with_scores) planned.at_once = charge_of_scores(client(k));
  planned.counted = planned.records = records;
  planned.of_round = Charge::gaussian(prices_->at(client(k), 0));
  planned.of_pass = served.of_pass.value_or(1);
  planned.passes = options_.passes;
  return affords(client(k), budgets_[k], planned);
}

/// Finds out whose ledgers have the release, or will have it. **Collective.**
void RunPrivacy::settle_scores() {
  bool all_rounds = true;  // are affordable; a run that is refused, since they are not, has released nothing
  agreement_.together([&] {
    for (std::size_t k = 0; k < static_cast<std::size_t>(count()) && options_.total_epsilon && !taken_up_; ++k) {
      all_rounds = all_rounds && affords_rounds(k, false);
    }
  });
  all_rounds = agreement_.all(declare_public(all_rounds));
  agreement_.together([&] {
    for (std::size_t k = 0; k < static_cast<std::size_t>(count()); ++k) {
      bool releases = !no_client_left_ && !is_lost(client(k));
      if (releases && taken_up_) {
        const auto& entries = ledger_of(client(k)).book().entries();
        const auto entry = std::ranges::find_if(
            entries, [this](const LedgerEntry& each) { return each.run.id == run_id_ + end_of_scores; });
        const LedgerAccount* const account = entry == entries.end() ? nullptr : entry->find(client(k));
        releases = account != nullptr && account->charged > 0;
      } else if (releases) {
        releases = all_rounds && affords_scores(k);
      }
      scored_.push_back(releases ? facts_.served[k].records.value_or(0) : 0);
    }
  });
  const std::int64_t most = scored_.empty() ? 0 : std::ranges::max(scored_);
  most_scored_ = agreement_.max(declare_public(most));
  Round of_pass = 1;
  for (const ServedRounds& each : facts_.served) of_pass = std::max(of_pass, each.of_pass.value_or(1));
  rounds_of_pass_ = agreement_.max(declare_public(of_pass));
}

/// Enters the release as a run of its own. It counts from now on, whether or not the run comes to its last round.
void RunPrivacy::reserve_scores(Ledger& ledger, const ClientRange& clients) const {
  const auto records = [this](Client u) { return scored_[static_cast<std::size_t>(u - first())]; };
  std::int64_t most = options_.ledger ? 0 : most_scored_;  // the same however ranks share clients
  std::vector<Reservation> rows;
  std::vector<LedgerEnding> endings;
  for (Client u = clients.first; u <= clients.through && !scored_.empty(); ++u) {
    const bool releases = records(u) > 0;
    most = std::max(most, records(u));
    add_row(endings, {u, releases ? 1 : 0, LedgerEnd::finished});
    if (releases) add_row(rows, at_once(u, charge_of_scores(u), "sums"));
  }
  if (rows.empty()) return;
  LedgerRun run = new_run(clients);
  run.id += end_of_scores;
  run.determined_by = "";
  const PriceRange range = histograms_->prices().scores->range();
  run.parameters = fmt::format("sums of scores: price={}..{} share={} records={} noise-key={}", range.least, range.most,
                               facts_.histograms.scores, most, name_of(key_policy()));
  // Who has a record in each batch of the run has as many records here as a pass has batches.
  run.batch = std::max<std::int64_t>(most / rounds_of_pass_, 1);
  run.batch_units = static_cast<double>(most);
  ledger.begin(run);
  ledger.reserve(rows);
  ledger.end(endings);
}

SumsOfScores RunPrivacy::release_scores(ReleasePath path, const std::vector<Secret<Counts>>& sums) {
  const std::size_t length = ScoreSums::form().length();
  Released<Columns> columns = declare_public(Columns(length, sums.size()));
  Vector variances;
  agreement_.together([&] {
    for (std::size_t k = 0; k < sums.size(); ++k) {
      if (!scores(k)) continue;
      ScoreSums own(charge_of_scores(client(k)).mu, scored_[k]);
      Released<Vector> noisy = declare_public(Vector(length));
      own.release({path, client(k)}, run_id_, keys_[k], sums[k], noisy);
      columns.update([k](Columns& all, const Vector& one) { all.set(k, one); }, noisy);
      variances.push_back(own.deviation() * own.deviation());
    }
  });
  SumsOfScores released;
  released.sums = agreement_.ordered_sum(columns);
  const Vector all = joined(agreement_.all_gather(declare_public(std::move(variances))));
  released.deviation = std::sqrt(std::accumulate(all.begin(), all.end(), 0.0));
  released.records = agreement_.sum(declare_public(std::accumulate(scored_.begin(), scored_.end(), std::int64_t{0})));
  return released;
}

}  // namespace starling
