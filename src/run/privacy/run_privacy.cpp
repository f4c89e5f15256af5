#include "run_privacy.hpp"

#include <algorithm>
#include <limits>

#include "budget_left.hpp"
#include "core/text/limits.hpp"
#include "histogram_charges.hpp"
#include "net/agreement.hpp"
#include "noise_keys.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/ledger/ledger.hpp"
#include "privacy/mechanism/multipart_mechanism.hpp"
#include "privacy/mechanism/paired_mechanism.hpp"
#include "privacy/pairs/pair_noise.hpp"
#include "privacy/pairs/pair_terms.hpp"
#include "run/privacy/pairs/run_pairs.hpp"
#include "run_prices.hpp"

namespace starling {

RunPrivacy::RunPrivacy(Agreement& agreement, const Layout& layout, const PrivacyOptions& options, RunFacts facts)
    : OwnersRelease(agreement, layout, options, std::move(facts)) {}

RunPrivacy::~RunPrivacy() = default;

Mechanism& RunPrivacy::mechanism() {
  return dynamic_cast<Mechanism&>(*protection_);
}

PairedMechanism* RunPrivacy::pair() {
  return dynamic_cast<PairedMechanism*>(protection_.get());
}

MultipartMechanism* RunPrivacy::multipart() {
  return dynamic_cast<MultipartMechanism*>(protection_.get());
}

Charge RunPrivacy::dearest_charge() const {
  return protection_->charge(prices_->range().most);
}

void RunPrivacy::take_up(const std::string& run_id, const std::string& private_folder) {
  run_id_ = run_id;
  taken_up_ = true;
  earlier_ = private_folder;
}

void RunPrivacy::open() {
  count_units();
  agreement_.together([&] {
    choose_prices();
    choose_budgets();
    keys_ = make_keys();
    if (options_.ledger) open_owners_ledgers();
  });
  agreement_.same("prices", declare_public(prices_->text()));
  if (limits_) agreement_.same("budgets", declare_public(limits_->text()));
  determined_by_ = determination();
  facts_.data = std::vector<std::string>();
  if (!earlier_) settle_run_id();
  if (facts_.pairs) agree_on_pairs(facts_.pairs->terms(), facts_.pairs->rounds());
  agreement_.together([&] { make_protection(); });
  refuse_equal_keys(agreement_, keys_, run_id_);
  FirstRelease here = FirstRelease::affordable;
  agreement_.together([&] {
    accounts_ = std::make_unique<Accounts>(*protection_, *prices_, facts_.rounds, first(), facts_.served);
    if (options_.budget) here = first_release();
    no_client_left_ = has_no_client_left();
  });
  require_some_budget(here);
}

void RunPrivacy::move_in(const std::string& private_folder) {
  agreement_.together([&] {
    if (key_policy() == NoiseKeyPolicy::random && !earlier_) store_noise_keys(keys_, first(), private_folder);
    for (NoiseKey& key : keys_) key = key.for_run(run_id_);
    if (facts_.pairs) store_public_keys_of_pairs(private_folder + "/pair-keys");
    if (!options_.ledger && !no_client_left_) open_own_ledger(private_folder);
  });
  start_accounts();
}

void RunPrivacy::choose_prices() {
  prices_ = prices_of(options_, facts_.rounds, layout_.clients(), facts_.price_factor);
  if (facts_.histograms.any()) {
    histograms_ = std::make_unique<HistogramCharges>(options_, facts_.histograms, *prices_, layout_.clients());
    prices_ = histograms_->of_gradients(*prices_);
  }
  if (earlier_) return;  // its price is what it was, and its clients may be others
  check_histogram_price(options_,
                        histograms_ ? histograms_->prices().text(options_, layout_.clients(), facts_.pairs.get()) : "");
}

void RunPrivacy::make_protection() {
  ReleaseSettings settings;
  settings.price = prices_->range();
  settings.clip = options_.clip.value_or(options_.protects() ? 1.0 : infinity);
  settings.unit = options_.unit;
  settings.persons_in_slots = facts_.persons_in_slots;
  settings.batch = facts_.batch;
  settings.dimension = facts_.dimension;
  settings.rounds = facts_.rounds;
  settings.run_id = run_id_;
  settings.correlation = facts_.correlation;
  settings.pairs = pair_noise_;
  if (facts_.protection) {
    protection_ = facts_.protection(settings);
  } else if (facts_.second) {
    protection_ = std::make_unique<PairedMechanism>(*options_.mechanism, settings, *facts_.second);
  } else {
    protection_ = mechanism_table().make(*options_.mechanism, settings);
  }
}

std::string RunPrivacy::price_text() const {
  const PriceRange range = prices_->range();
  return fmt::format("price={}..{}", range.least, range.most);
}

std::string RunPrivacy::correlation_text() const {
  return facts_.correlation ? " correlation: " + facts_.correlation->text() : "";
}

std::string RunPrivacy::pairs_text() const {
  return facts_.pairs ? " " + facts_.pairs->text(facts_.pairs->terms()) : "";
}

/// Goes on in the ledger of an unfinished run.
void RunPrivacy::take_up(Ledger& ledger) {
  const auto& entries = ledger.book().entries();
  const auto entry = std::ranges::find_if(entries, [this](const auto& each) { return each.run.id == run_id_; });
  check(entry != entries.end(),
        "privacy ledger '{}' does not know run {}: what it has spent stands in another. Put that one back; a relative "
        "--ledger is found from the folder where the run was started.",
        ledger.path(), run_id_);
  if (determined_by_.empty()) return ledger.go_on(run_id_);
  if (!clients_changed()) return ledger.resume(run_id_, determined_by_);
  const std::string parameters = entry->run.parameters + " ";
  check(
      parameters.starts_with(price_text() + " "),
      "releases had the {} and would have the {}: --total-epsilon goes by the client that uses a record most often. "
      "Bring the records of lost clients back, or let clients join with so many records that none is used more often.",
      parameters.substr(0, parameters.find(' ')), price_text());
  check(parameters.find(correlation_text() + " ") != std::string::npos,
        "run-id does not say what the ledger '{}' knows of the correlation of noise, but{}: releases cost what was "
        "said there. Restore run-id.",
        ledger.path(), correlation_text().empty() ? " nothing" : correlation_text());
  // The digest at first was made with the keys of all clients, and some clients are gone or new.
  ledger.resume(run_id_, std::string(entry->run.determined_by));
}

void RunPrivacy::begin(Ledger& ledger, const ClientRange& clients) {
  reserve_scores(ledger, clients);
  LedgerRun run = new_run(clients);
  run.parameters = fmt::format("{} clip={} dimension={} rounds={} noise-key={}", price_text(),
                               protection_->settings().clip, facts_.dimension, facts_.rounds, name_of(key_policy()));
  if (facts_.second) {
    run.parameters +=
        fmt::format(" second-share={} second-clip={} second-dimension={} second-replacement={}", facts_.second->share,
                    facts_.second->clip, facts_.second->dimension, facts_.second->replacement);
    if (facts_.second->alone_in > 0) run.parameters += fmt::format(" second-alone={}", facts_.second->alone_in);
  }
  if (const auto* multipart = dynamic_cast<const MultipartMechanism*>(protection_.get())) {
    run.parameters += " " + multipart->parameters();
  }
  run.parameters += correlation_text() + pairs_text();
  if (facts_.pairs) {
    if (const std::optional<double> own = protection_->own_deviation(protection_->settings().price.most))
      run.parameters += fmt::format(" own-deviation={}", *own);
  }
  if (facts_.trust && !facts_.pairs)
    run.parameters += fmt::format(" trust={} clients={}", name_of(*facts_.trust), layout_.clients());
  if (facts_.vertical && facts_.vertical->on_shares) {
    run.parameters += fmt::format(" protocol=shares parties={}", facts_.vertical->parties);
  } else if (facts_.vertical) {
    run.parameters +=
        fmt::format(" labels={} parties={} local-steps={}", facts_.vertical->labels_known_to_all ? "all" : "head",
                    facts_.vertical->parties, facts_.vertical->local_steps);
  }
  run.parameters += facts_.histograms.text();
  run.unit = protection_->unit();
  run.batch = static_cast<std::int64_t>(facts_.batch);
  run.batch_units = units_of_batch(*protection_);
  run.accumulation = protection_->accumulation();
  ledger.begin(run);
}

/// **Collective.** All ledgers know of the run before any release is reserved in one.
void RunPrivacy::start_accounts() {
  std::vector<Ledger*> ledgers;
  if (facts_.histograms.scores > 0) settle_scores();
  agreement_.together([&] {
    if (histograms_) accounts_->count_before(histograms_->of_clients(first(), facts_.served, scored_));
    ledgers.reserve(ledgers_.size());
    for (std::size_t k = 0; k < ledgers_.size(); ++k) {
      if (taken_up_) {
        take_up(ledgers_[k]);
      } else {
        begin(ledgers_[k], clients_of(k));
      }
      ledgers.push_back(&ledgers_[k]);
    }
    facts_.served = std::vector<ServedRounds>();  // {} would keep its room
  });
  FirstRelease here = FirstRelease::none;
  std::optional<Round> stop;
  Round end = 0;
  agreement_.together([&] {
    const BlockSizes blocks =
        options_.ledger_block ? BlockSizes::fixed(*options_.ledger_block) : BlockSizes::doubling();
    if (no_client_left_) return;
    accounts_->keep_in(ledgers, blocks);
    accounts_->skip_to_begin();
    if (options_.budget) {
      accounts_->limit(budgets_);
      if (options_.total_epsilon) stop = accounts_->will_stop_after();
    }
    if (facts_.pairs) end = accounts_->will_end_after();
  });
  if (facts_.pairs) accounts_->release_zeros_until(agreement_.max(declare_public(end)));
  if (options_.budget) see_what_is_left();
  require_total_within_budget(least_of_all(stop));
  agreement_.together([&] {
    std::vector<Budget>().swap(budgets_);
    // Taken up with other records, it is to say first how far releases may have come.
    const bool any = accounts_->open(!taken_up_ || (!determined_by_.empty() && !clients_changed()));
    if (!accounts_->idle()) here = any ? FirstRelease::affordable : FirstRelease::too_dear;
  });
  require_some_budget(here);
}

/// Ranks whose clients release nothing have no say, unless that is all of them. **Collective.**
void RunPrivacy::require_some_budget(FirstRelease here) {
  const bool any_affordable = agreement_.any(declare_public(here == FirstRelease::affordable));
  const bool no_release = agreement_.all(declare_public(here == FirstRelease::none));
  if (any_affordable || no_release) return;
  const std::vector<ChargeGroup> one{{protection_->charge(prices_->at(0, 0)), 1}};
  throw BudgetError(fmt::format(
      "--budget {}: no client can afford a single release: one costs a record epsilon = {:.6g}, and {} "
      "count for the client; earlier runs in the ledger count too. Raise the budget, lower the price{}, or see "
      "starling privacy ledger.",
      *options_.budget, compose(one, options_.delta.value_or(default_delta(one))).epsilon,
      options_.budget_of_client ? "all records of a batch" : "all releases of a record",
      options_.budget_of_client ? ", limit the worst record alone by --budget-unit record" : ""));
}

/// Whether a first release is within any client's budget, whatever stands in its ledger: else no ledger needs to know
/// of the run.
RunPrivacy::FirstRelease RunPrivacy::first_release() const {
  if (accounts_->idle()) return FirstRelease::none;
  for (std::size_t k = 0; k < budgets_.size(); ++k) {
    if (facts_.served[k].of_all == 0 || facts_.served[k].lost) continue;
    Spending first_release;
    first_release.add(prices_->at(first() + static_cast<Client>(k), 0), 0);
    const ClientLosses losses = losses_of(first_release, *protection_, budgets_[k].delta);
    const PrivacyLoss& loss = budgets_[k].of_client           ? losses.client
                              : is_whole(protection_->unit()) ? losses.record
                                                              : losses.component;
    if (loss.epsilon <= budgets_[k].epsilon) return FirstRelease::affordable;
  }
  return FirstRelease::too_dear;
}

void RunPrivacy::choose_budgets() {
  if (!options_.budget) return;
  limits_ = Prices::parse(*options_.budget, "--budget", facts_.rounds, layout_.clients(), 0, infinity);
  check(limits_->constant(), "--budget {} changes over the rounds: it is what all releases together may come to.",
        *options_.budget);
  budgets_.reserve(static_cast<std::size_t>(count()));
  for (Client u = first(); u < first() + count(); ++u) {
    budgets_.push_back({limits_->at(u, 0), options_.budget_of_client, options_.delta});
  }
}

Round RunPrivacy::first_unreleased() {
  return agreement_.max(declare_public(options_.protects() ? accounts_->reserved_through() : Round{0}));
}

std::int64_t RunPrivacy::leave_out(Round end, bool same) {
  std::int64_t most = 0;
  agreement_.together([&] {
    if (options_.protects()) most = accounts_->leave_out_releases(end, same);
  });
  return most;
}

double RunPrivacy::epsilon_per_release() const {
  const std::vector<ChargeGroup> one{{dearest_charge(), 1}};
  return compose(one, delta_of_claims()).epsilon;
}

std::optional<double> RunPrivacy::epsilon_so_far() const {
  if (!accounts_ || count() == 0 || accounts_->spending(0).releases() == 0) return std::nullopt;
  const ClientLosses losses = accounts_->losses(0, options_.delta);
  return (is_whole(protection_->unit()) ? losses.record : losses.component).epsilon;
}

double RunPrivacy::delta_of_claims() const {
  return options_.delta.value_or(default_delta({{dearest_charge(), 1}}));
}

std::vector<std::string> RunPrivacy::notes() const {
  std::vector<std::string> notes;
  if (taken_up_ && !clients_changed()) {
    notes.push_back(
        fmt::format("run {} is taken up again: rounds that it had entered into the ledger give the same bytes and cost "
                    "nothing more",
                    run_id_));
  }
  if (options_.ledger && left_) notes.push_back(what_is_left());
  return notes;
}

/// **Collective.**
std::optional<Round> RunPrivacy::least_of_all(std::optional<Round> here) {
  constexpr Round never = std::numeric_limits<Round>::max();
  const Round least = agreement_.min(declare_public(here.value_or(never)));
  return least == never ? std::nullopt : std::optional(least);
}

std::optional<Round> RunPrivacy::will_stop_after() {
  if (!options_.budget) return std::nullopt;
  std::optional<Round> here;
  agreement_.together([&] { here = accounts_->will_stop_after(); });
  return least_of_all(here);
}

}  // namespace starling
