#include "privacy/ledger/ledger_book.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>

#include "core/check.hpp"
#include "ledger_rules.hpp"
#include "privacy/accounting/accounting.hpp"

namespace starling {

namespace {

using Groups = std::vector<ChargeGroup>;

void add(Groups& groups, const ChargeGroup& more) {
  if (more.count == 0) return;
  const auto equal = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.charge == more.charge; });
  if (equal == groups.end()) {
    groups.push_back(more);
    return;
  }
  check<DataError>(equal->count <= std::numeric_limits<std::int64_t>::max() - more.count,
                   "the ledger counts more than 2^63 releases: no run made them.");
  equal->count += more.count;
}

/// Charges of one pass: of each kind the largest, in every figure. A run has one mechanism, so there is one kind; of
/// several none bounds the other, and all count.
void raise(std::vector<Charge>& largest, const Charge& charge) {
  const auto same =
      std::find_if(largest.begin(), largest.end(), [&](const Charge& c) { return c.kind == charge.kind; });
  if (same == largest.end()) {
    largest.push_back(charge);
    return;
  }
  same->epsilon = std::max(same->epsilon, charge.epsilon);
  same->delta = std::max(same->delta, charge.delta);
  same->mu = std::max(same->mu, charge.mu);
}

using ByPass = std::map<std::int64_t, std::vector<Charge>>;

void raise(ByPass& passes, const Reservation& block) {
  for (const auto& [pass, charge] : block.passes) raise(passes[pass], charge);
}

/// Units in a batch of so many that a client releases, risen by their accumulation. Rows of 0.2.0 or earlier have the
/// factor of the rounds that were planned. More releases under correlated noise cost no more than a chain of them,
/// whatever else they have: a second part, or a sum of first rounds, rises by less or is in that factor.
double risen_units(const LedgerRun& run, std::int64_t releases) {
  if (run.accumulation.any()) return run.batch_units * run.accumulation.factor(releases);
  const std::optional<NoiseCorrelation> stated = stated_correlation(run.parameters);
  if (!stated) return run.batch_units;
  return std::max(run.batch_units, static_cast<double>(run.batch) * Accumulation{stated}.factor(releases));
}

/// Units of privacy, as a run's charges count them, in one unit of `level`, for a client with so many releases.
double units_of(LossLevel level, const LedgerRun& run, std::int64_t releases) {
  const double units = risen_units(run, releases);
  const double of_record = units / static_cast<double>(std::max<std::int64_t>(run.batch, 1));
  switch (level) {
    case LossLevel::component:
      return 1;
    case LossLevel::record:
      return is_whole(run.unit) ? 1 : of_record;
    case LossLevel::record_in_each_batch:
      return of_record;
    case LossLevel::person:
      if (run.unit == PrivacyUnit::person) return 1;
      break;
    case LossLevel::client:
      break;
  }
  return units;
}

/// An upper bound on the cost of a release that counts as so many units.
Charge of_units(const Charge& charge, double units) {
  return units <= 1 ? charge : of_group(charge, units).value_or(Charge::unbounded());
}

/// Whether each pass counts once, with its largest charge: who is meant takes part in one release of a pass.
bool counts_by_pass(LossLevel level, const LedgerRun& run) {
  if (level == LossLevel::person) return run.unit == PrivacyUnit::person;
  return level == LossLevel::component || level == LossLevel::record;
}

std::int64_t releases_of(const std::vector<const Reservation*>& blocks) {
  std::int64_t releases = 0;
  for (const Reservation* block : blocks) {
    for (const ChargeGroup& group : block->charges) releases += group.count;
  }
  return releases;
}

/// Adds the costs of blocks of one run.
void add_blocks(Groups& groups, const std::vector<const Reservation*>& blocks, LossLevel level, const LedgerRun& run) {
  const double units = units_of(level, run, releases_of(blocks));
  if (!counts_by_pass(level, run)) {
    for (const Reservation* block : blocks) {
      for (const auto& [charge, count] : block->charges) add(groups, {of_units(charge, units), count});
    }
    return;
  }
  ByPass passes;
  for (const Reservation* block : blocks) raise(passes, *block);
  for (const auto& [pass, largest] : passes) {
    for (const Charge& charge : largest) add(groups, {of_units(charge, units), 1});
  }
}

}  // namespace

std::optional<NoiseCorrelation> stated_correlation(const std::string& parameters) {
  constexpr std::string_view before = " correlation: ";
  constexpr int words = 4;
  const std::size_t begin = parameters.find(before);
  if (begin == std::string::npos) return std::nullopt;
  std::size_t end = begin + before.size();
  for (int word = 0; word < words && end != std::string::npos; ++word) end = parameters.find(' ', end + 1);
  return NoiseCorrelation::parse(parameters.substr(begin + before.size(), end - begin - before.size()));
}

LossLevel level_of(PrivacyUnit unit) {
  if (unit == PrivacyUnit::person) return LossLevel::person;
  return unit == PrivacyUnit::record ? LossLevel::record : LossLevel::component;
}

const char* name_of(LedgerEnd reason) {
  switch (reason) {
    case LedgerEnd::finished:
      return "finished";
    case LedgerEnd::stopped:
      return "stopped by signal";
    case LedgerEnd::budget:
      return "budget";
  }
  return "";
}

bool LedgerAccount::says_the_same(const LedgerAccount& other) const {
  return charged == other.charged && taken_up == other.taken_up && reserved == other.reserved && end == other.end &&
         blocks == other.blocks;
}

bool LedgerEntry::finished() const {
  return std::all_of(accounts.begin(), accounts.end(),
                     [](const auto& each) { return each.second.end && each.second.end != LedgerEnd::stopped; });
}

const LedgerAccount* LedgerEntry::find(Client client) const {
  const auto after = accounts.upper_bound(client);
  if (after == accounts.begin()) return nullptr;
  const LedgerAccount& account = std::prev(after)->second;
  return account.clients.has(client) ? &account : nullptr;
}

const LedgerAccount& LedgerEntry::account(Client client) const {
  const LedgerAccount* part = find(client);
  check(part != nullptr, "client {} is none of run '{}': whose row 'open' names its clients.", client, run.id);
  return *part;
}

const LedgerEntry* LedgerBook::at_hand() const {
  return entries_.empty() ? nullptr : &entries_[at_hand_];
}

std::optional<std::string> LedgerBook::unfinished(const std::string& determined_by) const {
  if (determined_by.empty()) return std::nullopt;
  const auto latest = std::find_if(entries_.rbegin(), entries_.rend(), [&](const LedgerEntry& entry) {
    return entry.run.determined_by == determined_by && !entry.finished();
  });
  return latest == entries_.rend() ? std::nullopt : std::optional(latest->run.id);
}

std::vector<ClientRange> LedgerBook::cohorts() const {
  std::map<std::int64_t, std::int64_t> changes;  // where accounts begin and end: how many more there are from there on
  for (const LedgerEntry& entry : entries_) {
    for (const auto& [first, account] : entry.accounts) {
      ++changes[first];
      --changes[std::int64_t{account.clients.through} + 1];
    }
  }
  std::vector<ClientRange> cohorts;
  std::int64_t accounts = 0;
  for (auto place = changes.begin(); place != changes.end(); ++place) {
    accounts += place->second;
    if (accounts == 0) continue;
    cohorts.emplace_back(static_cast<Client>(place->first), static_cast<Client>(std::next(place)->first - 1));
  }
  return cohorts;
}

bool LedgerBook::alike(Client one, Client other) const {
  return std::all_of(entries_.begin(), entries_.end(),
                     [&](const LedgerEntry& entry) { return entry.find(one) == entry.find(other); });
}

bool LedgerBook::has(Client client, PrivacyUnit unit) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const LedgerEntry& entry) {
    const LedgerAccount* part = entry.run.unit == unit ? entry.find(client) : nullptr;
    return part != nullptr && !part->blocks.empty();
  });
}

std::vector<ChargeGroup> LedgerBook::spent(Client client, LossLevel level, const Reservation* planned) const {
  Groups groups;
  for (const LedgerEntry& entry : entries_) {
    const LedgerAccount* part = entry.find(client);
    std::vector<const Reservation*> blocks;
    if (part != nullptr) blocks = part->blocks.in_order();
    if (planned != nullptr && &entry == at_hand()) blocks.push_back(planned);
    add_blocks(groups, blocks, level, entry.run);
  }
  return groups;
}

}  // namespace starling
