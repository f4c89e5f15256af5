#include "histogram_release.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "console/version.hpp"
#include "core/text/limits.hpp"
#include "privacy/accounting/accounting.hpp"

namespace starling {

namespace {

constexpr const char* digest_policy = "Poly1305 of the counts, into the start of a ChaCha20 stream";

}  // namespace

Vector variances_of(Agreement& agreement, const Layout& layout, const PrivacyOptions& options,
                    const HistogramFacts& facts) {
  Vector here;
  agreement.together([&] {
    const Prices prices = prices_of(options, 1, layout.clients());
    for (std::size_t k = 0; k < facts.records.size(); ++k) {
      if (facts.records[k] == 0) continue;
      const double price =
          facts.of_price.of_release(prices.at(layout.first(agreement.rank()) + static_cast<Client>(k), 0));
      here.push_back(
          std::pow(NoisyCounts(facts.form, options.mechanism_row().charge, price, facts.records[k]).deviation(), 2));
    }
  });
  return joined(agreement.all_gather(declare_public(std::move(here))));
}

std::int64_t records_of(Agreement& agreement, const HistogramFacts& facts) {
  return agreement.sum(declare_public(std::accumulate(facts.records.begin(), facts.records.end(), std::int64_t{0})));
}

HistogramRelease::HistogramRelease(Agreement& agreement, const Layout& layout, const PrivacyOptions& options,
                                   HistogramFacts facts, const std::string& private_folder)
    : agreement_(agreement), layout_(layout), options_(options), facts_(std::move(facts)) {
  agreement_.together([&] {
    prices_ = prices_of(options_, 1, layout_.clients());
    keys_ = make_noise_keys(options_.noise_key, facts_.seed, layout_.first(agreement_.rank()),
                            layout_.count(agreement_.rank()));
    if (options_.ledger) {
      ledgers_ = open_owners_ledgers(*options_.ledger, layout_, agreement_.rank());
    } else if (layout_.count(agreement_.rank()) > 0) {
      ledgers_.push_back(Ledger::open(private_folder + "/ledger"));
    }
  });
  agreement_.same("prices", declare_public(prices_->text()));
  most_records_ =
      agreement_.max(declare_public(facts_.records.empty() ? std::int64_t{0} : std::ranges::max(facts_.records)));
  settle_run_id();
  refuse_equal_keys(agreement_, keys_, run_id_);
}

NoisyCounts HistogramRelease::histograms(std::size_t k) const {
  return {facts_.form, options_.mechanism_row().charge, facts_.of_price.of_release(prices_->at(number(k), 0)),
          facts_.records[k]};
}

/// A release that was not closed (its keys can be had again) is taken up: it has the same bytes, and costs nothing
/// more.
void HistogramRelease::settle_run_id() {
  std::string matter;
  agreement_.together([&] {
    matter =
        fmt::format("{} {}\n{}{}\n{}\n{}", facts_.name, facts_.share, configuration_that_matters(facts_.configuration),
                    facts_.public_inputs, prices_->text(), build_that_matters());
  });
  determined_by_ = determination_of(agreement_, matter, keys_, facts_.data, facts_.replayable);
  const std::string found = unfinished_in_all(agreement_, layout_, ledgers_, determined_by_);
  taken_up_ = !found.empty();
  run_id_ = taken_up_ ? found : make_run_id(agreement_, noise_key_policy(options_.noise_key), facts_.seed) + facts_.end;
}

/// The records in each batch of the run that follows, at least, of the client with so many records.
std::int64_t HistogramRelease::least_batch(std::int64_t records) const {
  return std::max<std::int64_t>(records / std::max<Round>(facts_.rounds_of_pass, 1), 1);
}

/// The records for which the ledger of the clients first … first + count − 1 charges each of them: their most where the
/// ledger is the owners', else the most of all clients, so that it is the same however ranks share clients.
std::int64_t HistogramRelease::counted_records(std::size_t first, std::size_t count) const {
  if (!options_.ledger) return most_records_;
  const auto begin = facts_.records.begin() + static_cast<std::ptrdiff_t>(first);
  return *std::max_element(begin, begin + static_cast<std::ptrdiff_t>(count));
}

/// Whether client k can pay for the histogram and for a round after it, or under --total-epsilon for all of them: alone
/// it would be of no use.
bool HistogramRelease::affordable(std::size_t k) {
  const Prices limits = Prices::parse(*options_.budget, "--budget", 1, layout_.clients(), 0, infinity);
  const LossLevel level = options_.budget_of_client ? LossLevel::client : level_of(options_.unit);
  const std::size_t clients = facts_.records.size();
  const std::int64_t counted = ledgers_.size() == clients ? counted_records(k, 1) : counted_records(0, clients);
  const double members = options_.budget_of_client ? static_cast<double>(counted) : 1;
  std::vector<ChargeGroup> groups = ledger_of(k).book().spent(number(k), level);
  const double price = facts_.of_price.of_gradients(prices_->at(number(k), 0));
  const double in_batch = options_.budget_of_client ? static_cast<double>(least_batch(facts_.records[k])) : 1;
  const Charge of_round = options_.mechanism_row().gaussian() ? Charge::gaussian(price) : Charge::laplace(price);
  groups.push_back({of_group(histograms(k).charge(), members).value_or(Charge::unbounded()), 1});
  const Round rounds = facts_.uses * (options_.budget_of_client ? facts_.rounds_of_pass : 1);
  groups.push_back({of_group(of_round, in_batch).value_or(Charge::unbounded()), options_.total_epsilon ? rounds : 1});
  const double delta = options_.delta.value_or(default_delta(groups));
  return compose(groups, delta).epsilon <= limits.at(number(k), 0);
}

bool HistogramRelease::affordable() {
  if (!options_.budget || taken_up_) return true;
  bool all = true;
  agreement_.together([&] {
    for (std::size_t k = 0; k < facts_.records.size(); ++k) all = all && (facts_.records[k] == 0 || affordable(k));
  });
  return agreement_.all(declare_public(all));
}

LedgerRun HistogramRelease::run_of(std::size_t first, std::size_t count) const {
  const std::int64_t most = counted_records(first, count);
  const PriceRange range = prices_->range();
  LedgerRun run;
  run.id = run_id_;
  run.version = version();
  run.mechanism = *options_.mechanism;
  run.parameters =
      fmt::format("{}: bins={} price={}..{} share={} records={} noise-key={}", facts_.name, facts_.form.bins,
                  facts_.of_price.of_release(range.least), facts_.of_price.of_release(range.most), facts_.share, most,
                  name_of(noise_key_policy(options_.noise_key)));
  run.unit = options_.unit;
  // Who has a record in each batch of the run that follows has `rounds_of_pass` records in this one.
  run.batch = least_batch(most);
  run.batch_units = static_cast<double>(std::max<std::int64_t>(most, 1));
  run.determined_by = determined_by_;
  run.clients = {ClientRange(number(first), number(first + count - 1))};
  return run;
}

/// Writes the release of the clients first … first + count − 1 of this rank into their ledger.
void HistogramRelease::enter(std::size_t first, std::size_t count, Ledger& ledger) const {
  if (taken_up_) return ledger.resume(run_id_, determined_by_);
  ledger.begin(run_of(first, count));
  std::vector<Reservation> rows;
  for (std::size_t k = first; k < first + count; ++k) {
    if (facts_.records[k] == 0) continue;
    const Charge charge = histograms(k).charge();
    Reservation row;
    row.clients = number(k);
    row.records = "all, at once";
    row.passes = {{1, charge}};
    row.charges = {{charge, 1}};
    row.digest = digest_policy;
    add_row(rows, std::move(row));
  }
  if (!rows.empty()) ledger.reserve(rows);
}

void HistogramRelease::enter_all() {
  agreement_.together([&] {
    const std::size_t clients = facts_.records.size();
    const std::size_t of_each = ledgers_.size() == clients ? 1 : clients;
    for (std::size_t i = 0; i < ledgers_.size(); ++i) enter(i * of_each, of_each, ledgers_[i]);
  });
}

/// A release whose keys can be had again stays open, so that the same command takes it up at no further cost.
void HistogramRelease::close() {
  agreement_.together([&] {
    const bool repeatable = !determined_by_.empty() && noise_key_policy(options_.noise_key) == NoiseKeyPolicy::file;
    std::map<Ledger*, std::vector<LedgerEnding>> endings;
    for (std::size_t k = 0; k < facts_.records.size() && !repeatable; ++k) {
      add_row(endings[&ledger_of(k)], {number(k), facts_.records[k] > 0 ? 1 : 0, LedgerEnd::finished});
    }
    for (const auto& [ledger, rows] : endings) ledger->end(rows);
    ledgers_.clear();  // others open them next
  });
}

Vector HistogramRelease::release(ReleasePath path, const std::vector<Secret<Counts>>& counts) {
  enter_all();
  Released<Columns> columns = declare_public(Columns());
  agreement_.together([&] {
    const std::size_t length = facts_.form.length();
    columns = declare_public(Columns(length, counts.size()));
    for (std::size_t k = 0; k < counts.size(); ++k) {
      if (facts_.records[k] == 0) continue;
      Released<Vector> noisy = declare_public(Vector(length));
      histograms(k).release({path, number(k)}, run_id_, keys_[k].for_run(run_id_), counts[k], noisy);
      columns.update([k](Columns& all, const Vector& own) { all.set(k, own); }, noisy);
    }
  });
  close();
  return agreement_.ordered_sum(columns);
}

}  // namespace starling
