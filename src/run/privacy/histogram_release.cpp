#include "histogram_release.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/text/limits.hpp"
#include "net/agreement.hpp"
#include "noise_keys.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/ledger/ledger.hpp"
#include "privacy/pairs/pair_terms.hpp"
#include "run/privacy/pairs/run_pairs.hpp"

namespace starling {

namespace {

PairTerms terms_of(const RunFacts& run) {
  return run.pairs ? run.pairs->terms_before() : PairTerms();
}

}  // namespace

Vector variances_of(Agreement& agreement, const Layout& layout, const PrivacyOptions& options,
                    const HistogramFacts& facts) {
  Vector here;
  agreement.together([&] {
    const Prices prices = prices_of(options, 1, layout.clients());
    for (std::size_t k = 0; k < facts.records.size(); ++k) {
      if (facts.records[k] == 0 && !facts.run.pairs) continue;
      const double price =
          facts.of_price.of_release(prices.at(layout.first(agreement.rank()) + static_cast<Client>(k), 0));
      const NoisyCounts counts(facts.form, options.mechanism_row().charge, price, facts.records[k],
                               terms_of(facts.run));
      here.push_back(std::pow(counts.deviation(), 2));
    }
  });
  return joined(agreement.all_gather(declare_public(std::move(here))));
}

std::int64_t records_of(Agreement& agreement, const HistogramFacts& facts) {
  return agreement.sum(declare_public(std::accumulate(facts.records.begin(), facts.records.end(), std::int64_t{0})));
}

/// A release that was not closed (its keys can be had again) is taken up: it has the same bytes, and costs clients
/// nothing more that have paid.
HistogramRelease::HistogramRelease(Agreement& agreement, const Layout& layout, const PrivacyOptions& options,
                                   HistogramFacts facts, const std::string& private_folder)
    : OwnersRelease(agreement, layout, options, std::move(facts.run)),
      histograms_(std::move(facts)),
      private_folder_(private_folder) {
  agreement_.together([&] {
    check<FailureError>(options_.trusts_pairs == (facts_.pairs != nullptr), "histograms before pairs are chosen");
    prices_ = prices_of(options_, 1, layout_.clients());
    keys_ = make_noise_keys(options_.noise_key, facts_.seed, first(), count());
    if (options_.ledger) {
      open_owners_ledgers();
    } else if (count() > 0) {
      open_own_ledger(private_folder);
    }
  });
  agreement_.same("prices", declare_public(prices_->text()));
  most_records_ = agreement_.max(
      declare_public(histograms_.records.empty() ? std::int64_t{0} : std::ranges::max(histograms_.records)));
  std::string all;
  agreement_.together([&] {
    all = fmt::format("{} {}\n{}", histograms_.name, histograms_.share,
                      matter(facts_.pairs ? facts_.pairs->text(facts_.pairs->terms_before()) + "\n" : ""));
  });
  determined_by_ = digest_of(all, keys_, facts_.data);
  settle_run_id(histograms_.end);
  refuse_equal_keys(agreement_, keys_, run_id_);
}

NoisyCounts HistogramRelease::counts_of(Client u) const {
  return {histograms_.form, options_.mechanism_row().charge, histograms_.of_price.of_release(prices_->at(u, 0)),
          records(u), terms_of(facts_)};
}

/// The records for which the ledger of these clients charges each of them: their most where the ledger is the owners',
/// else the most of all clients, so that it is the same however ranks share clients.
std::int64_t HistogramRelease::counted_records(const ClientRange& clients) const {
  if (!options_.ledger) return most_records_;
  std::int64_t most = 0;
  for (Client u = clients.first; u <= clients.through; ++u) most = std::max(most, records(u));
  return most;
}

/// Whether client u, which has its account in this ledger, can pay for the histogram and for rounds after it.
bool HistogramRelease::affordable(Client u, std::size_t ledger, double budget) const {
  const double price = histograms_.of_price.of_gradients(prices_->at(u, 0));
  PlannedCharges planned;
  planned.at_once = counts_of(u).charge();
  planned.counted = counted_records(clients_of(ledger));
  planned.of_round = options_.mechanism_row().gaussian() ? Charge::gaussian(price) : Charge::laplace(price);
  planned.records = records(u);
  planned.of_pass = histograms_.rounds_of_pass;
  planned.passes = histograms_.uses;
  return affords(u, {budget, options_.budget_of_client, options_.delta}, planned);
}

/// Whether the ledger of client u has the charge of a release that is taken up: it may have been killed before.
bool HistogramRelease::has_paid(Client u) const {
  const auto& entries = ledger_of(u).book().entries();
  const auto entry = std::ranges::find(entries, run_id_, [](const LedgerEntry& each) { return each.run.id; });
  const LedgerAccount* const account = entry == entries.end() ? nullptr : entry->find(u);
  return account != nullptr && account->charged > 0;
}

bool HistogramRelease::affordable() {
  if (!options_.budget) return true;
  bool all = true;
  agreement_.together([&] {
    const Prices limits = Prices::parse(*options_.budget, "--budget", 1, layout_.clients(), 0, infinity);
    for (std::size_t i = 0; i < ledgers_.size(); ++i) {
      const ClientRange clients = clients_of(i);
      for (Client u = clients.first; u <= clients.through; ++u)
        all = all && (records(u) == 0 || has_paid(u) || affordable(u, i, limits.at(u, 0)));
    }
  });
  return agreement_.all(declare_public(all));
}

LedgerRun HistogramRelease::run_of(const ClientRange& clients) const {
  const std::int64_t most = counted_records(clients);
  const PriceRange range = prices_->range();
  LedgerRun run = new_run(clients);
  run.parameters =
      fmt::format("{}: bins={} price={}..{} share={} records={} noise-key={}", histograms_.name, histograms_.form.bins,
                  histograms_.of_price.of_release(range.least), histograms_.of_price.of_release(range.most),
                  histograms_.share, most, name_of(key_policy()));
  if (facts_.pairs) {
    run.parameters += fmt::format(" {} own-deviation={}", facts_.pairs->text(facts_.pairs->terms_before()),
                                  counts_of(clients.first).deviation());
  }
  // Who has a record in each batch of the run that follows has `rounds_of_pass` records in this one.
  run.batch = std::max<std::int64_t>(most / std::max<Round>(histograms_.rounds_of_pass, 1), 1);
  run.batch_units = static_cast<double>(std::max<std::int64_t>(most, 1));
  return run;
}

/// Writes the release of these clients into their ledger.
void HistogramRelease::enter(const ClientRange& clients, Ledger& ledger) const {
  if (taken_up_) {
    ledger.resume(run_id_, determined_by_);
  } else {
    ledger.begin(run_of(clients));
  }
  std::vector<Reservation> rows;
  for (Client u = clients.first; u <= clients.through; ++u) {
    if (records(u) > 0 && !has_paid(u)) add_row(rows, at_once(u, counts_of(u).charge(), "counts"));
  }
  if (!rows.empty()) ledger.reserve(rows);
}

/// A release whose keys can be had again stays open, so that the same command takes it up at no further cost.
void HistogramRelease::close() {
  agreement_.together([&] {
    const bool repeatable = !determined_by_.empty() && key_policy() == NoiseKeyPolicy::file;
    for (std::size_t i = 0; i < ledgers_.size() && !repeatable; ++i) {
      const ClientRange clients = clients_of(i);
      std::vector<LedgerEnding> endings;
      for (Client u = clients.first; u <= clients.through; ++u) {
        add_row(endings, {u, records(u) > 0 ? 1 : 0, LedgerEnd::finished});
      }
      ledgers_[i].end(endings);
    }
    ledgers_.clear();  // others open them next
  });
}

Vector HistogramRelease::release(ReleasePath path, const std::vector<Secret<Counts>>& counts) {
  if (facts_.pairs) agree_on_pairs(facts_.pairs->terms_before(), {});  // all release, also who sits out in rounds
  agreement_.together([&] {
    if (facts_.pairs) store_public_keys_of_pairs(private_folder_ + "/pair-keys-of-" + histograms_.end.substr(1));
    for (std::size_t i = 0; i < ledgers_.size(); ++i) enter(clients_of(i), ledgers_[i]);
  });
  Released<Columns> columns = declare_public(Columns());
  agreement_.together([&] {
    const std::size_t length = histograms_.form.length();
    columns = declare_public(Columns(length, counts.size()));
    for (std::size_t k = 0; k < counts.size(); ++k) {
      if (!releases(histograms_.records[k])) continue;
      Released<Vector> noisy = declare_public(Vector(length));
      counts_of(client(k)).release({path, client(k)}, run_id_, keys_[k].for_run(run_id_), counts[k], noisy,
                                   pair_noise_.get());
      columns.update([k](Columns& all, const Vector& own) { all.set(k, own); }, noisy);
    }
  });
  close();
  return agreement_.ordered_sum(columns);
}

}  // namespace starling
