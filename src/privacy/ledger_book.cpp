#include "starling/privacy/ledger_book.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

#include "starling/core/check.hpp"
#include "starling/privacy/accounting.hpp"

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
                   "the ledger counts more than 2^63 releases (no run made them)");
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

/// The client's part in a run that counts this unit; none if there is no such part.
const LedgerAccount* part_of(const LedgerEntry& entry, Client client, PrivacyUnit unit) {
  return entry.run.unit == unit ? entry.find(client) : nullptr;
}

}  // namespace

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
  check(part != nullptr, "client {} is none of run '{}' (whose row 'open' names its clients)", client, run.id);
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
    const LedgerAccount* part = part_of(entry, client, unit);
    return part != nullptr && !part->blocks.empty();
  });
}

namespace {

/// What a release counts for who has a record in each: more than its charge where sums over all records are released
/// later (Protection::accumulation), which the units of a batch have in them.
Charge in_each_batch(const Charge& charge, const LedgerRun& run) {
  const double factor = run.batch_units / static_cast<double>(std::max<std::int64_t>(run.batch, 1));
  if (run.unit != PrivacyUnit::record || factor <= 1) return charge;
  return of_group(charge, factor).value_or(Charge::unbounded());
}

}  // namespace

std::vector<ChargeGroup> LedgerBook::spent(Client client, PrivacyUnit unit, const Reservation* planned) const {
  Groups groups;
  const auto add_block = [&](const LedgerEntry& entry, const Reservation& block) {
    for (const auto& [charge, count] : block.charges) add(groups, {in_each_batch(charge, entry.run), count});
  };
  for (const LedgerEntry& entry : entries_) {
    const LedgerAccount* part = part_of(entry, client, unit);
    if (part == nullptr) continue;
    for (const Reservation* block : part->blocks.in_order()) add_block(entry, *block);
  }
  if (planned != nullptr && at_hand() != nullptr) add_block(*at_hand(), *planned);
  return groups;
}

std::vector<ChargeGroup> LedgerBook::spent_by_client(Client client, PrivacyUnit unit,
                                                     const Reservation* planned) const {
  Groups groups;
  const auto add_batches = [&](const LedgerEntry& entry, const Reservation& block) {
    for (const auto& [charge, count] : block.charges) {
      add(groups, {of_group(charge, entry.run.batch_units).value_or(Charge::unbounded()), count});
    }
  };
  for (const LedgerEntry& entry : entries_) {
    const LedgerAccount* part = part_of(entry, client, unit);
    if (part == nullptr) continue;
    for (const Reservation* block : part->blocks.in_order()) add_batches(entry, *block);
  }
  if (planned != nullptr && at_hand() != nullptr) add_batches(*at_hand(), *planned);
  return groups;
}

std::vector<ChargeGroup> LedgerBook::spent_by_record(Client client, PrivacyUnit unit,
                                                     const Reservation* planned) const {
  Groups groups;
  for (const LedgerEntry& entry : entries_) {
    const LedgerAccount* part = part_of(entry, client, unit);
    if (part == nullptr) continue;
    ByPass passes;
    for (const Reservation* block : part->blocks.in_order()) raise(passes, *block);
    if (planned != nullptr && &entry == at_hand()) raise(passes, *planned);
    for (const auto& [pass, largest] : passes) {
      for (const Charge& charge : largest) add(groups, {charge, 1});
    }
  }
  return groups;
}

}  // namespace starling
