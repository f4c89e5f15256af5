#include "ledger_rules.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "core/check.hpp"

namespace starling {

namespace {

constexpr Client last_client = std::numeric_limits<Client>::max();
constexpr std::int64_t most_rounds = 9'000'000'000'000'000;  // doubles hold them, as others read JSON
constexpr std::int64_t most_releases = 1'000'000'000'000;    // of one block

bool consists_of(const std::string& text, std::string_view characters) {
  return text.find_first_not_of(characters) == std::string::npos;
}

void check_digits(const std::string& digest) {
  check(consists_of(digest, "0123456789abcdef"),
        "determined_by '{}' is no digest: it must be hexadecimal digits, or empty.", digest);
}

bool is_loss(double value) {
  return std::isfinite(value) && value >= 0;
}

void check_charge(const Charge& charge) {
  const auto& [kind, epsilon, delta, mu] = charge;
  bool fits = false;
  switch (kind) {
    case ChargeKind::pure:
    case ChargeKind::laplace:
      fits = is_loss(epsilon) && delta == 0 && mu == 0;
      break;
    case ChargeKind::gaussian:
      fits = is_loss(mu) && epsilon == 0 && delta == 0;
      break;
    case ChargeKind::approximate:
      fits = is_loss(epsilon) && is_loss(delta) && delta <= 1 && mu == 0;
      break;
    case ChargeKind::unbounded:
      fits = charge == Charge::unbounded();
      break;
  }
  check(fits, "a charge with epsilon {}, delta {}, mu {}: not what a charge of its kind has.", epsilon, delta, mu);
}

void check_accumulation(const Accumulation& accumulation) {
  const auto& [correlation, independent, once, first_rounds] = accumulation;
  check(independent >= 0 && once >= 0 && independent + once < 1 && first_rounds >= 0 && first_rounds <= most_rounds,
        "an accumulation with shares {} and {}, and {} first rounds: shares come to less than 1.", independent, once,
        first_rounds);
}

/// The run that rows are written for.
const LedgerEntry& current(const LedgerBook& book) {
  check(book.at_hand() != nullptr, "no run is at hand: rows belong to one. Begin it first.");
  return *book.at_hand();
}

/// Throws unless the run is known, all these clients belong to the run, none has ended, and `check_one` accepts each
/// account.
template <class CheckOne>
void check_accounts(const LedgerBook& book, const std::string& run, const ClientRange& clients,
                    const CheckOne& check_one) {
  const LedgerEntry& entry = current(book);
  check(entry.run.id == run, "run '{}' is not at hand, '{}' is: one run writes at a time. Take it up first.", run,
        entry.run.id);
  for (std::int64_t next = clients.first; next <= clients.through;) {
    const auto client = static_cast<Client>(next);
    const LedgerAccount& account = entry.account(client);
    check(!account.end, "client {} has ended in run '{}': nothing more is released then. Take the run up again first.",
          client, run);
    check_one(account, client);
    next = std::int64_t{account.clients.through} + 1;
  }
}

using Cohorts = std::map<Client, LedgerAccount>;

/// Splits an account that has this client in its midst, so that an account begins with this client.
void part_before(Cohorts& accounts, Client client) {
  const auto after = accounts.upper_bound(client);
  if (after == accounts.begin()) return;
  LedgerAccount& account = std::prev(after)->second;
  if (account.clients.first == client || !account.clients.has(client)) return;
  LedgerAccount rest = account;
  rest.clients.first = client;
  account.clients.through = client - 1;
  accounts.emplace_hint(after, client, std::move(rest));
}

/// Unites equal adjacent accounts of these clients and their neighbours.
void unite(Cohorts& accounts, const ClientRange& clients) {
  auto place = accounts.lower_bound(clients.first);
  if (place != accounts.begin()) --place;
  for (auto next = std::next(place); next != accounts.end() && place->first <= clients.through;
       next = std::next(place)) {
    LedgerAccount& account = place->second;
    if (account.clients.touches(next->second.clients) && account.says_the_same(next->second)) {
      account.clients.through = next->second.clients.through;
      accounts.erase(next);
    } else {
      place = next;
    }
  }
}

template <class Change>
void change_accounts(Cohorts& accounts, const ClientRange& clients, const Change& change) {
  part_before(accounts, clients.first);
  if (clients.through < last_client) part_before(accounts, clients.through + 1);
  for (auto place = accounts.lower_bound(clients.first); place != accounts.end() && place->first <= clients.through;
       ++place) {
    change(place->second);
  }
  unite(accounts, clients);
}

const LedgerEntry* find_run(const LedgerBook& book, const std::string& id) {
  const auto& entries = book.entries();
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.run.id == id; });
  return found == entries.end() ? nullptr : &*found;
}

/// The charges of the first releases, of as many as `count`.
std::vector<ChargeGroup> first_of(const std::vector<ChargeGroup>& charges, std::int64_t count) {
  std::vector<ChargeGroup> first;
  for (const ChargeGroup& group : charges) {
    const std::int64_t taken = std::min(count, group.count);
    if (taken > 0) first.push_back({group.charge, taken});
    count -= taken;
  }
  return first;
}

std::int64_t releases_of(const Reservation& block) {
  std::int64_t count = 0;
  for (const ChargeGroup& group : block.charges) count += group.count;
  return count;
}

/// The block, which has begun, without the rounds from `end` on.
Reservation cut(Reservation block, Round end) {
  const bool one_a_round = releases_of(block) == block.last - block.first + 1;
  block.last = end - 1;
  if (one_a_round) block.charges = first_of(block.charges, end - block.first);
  return block;
}

/// The blocks without the rounds from `end` on.
LedgerBlocks cut(LedgerBlocks blocks, Round end) {
  while (!blocks.empty() && blocks.last()->first >= end) blocks.pop();
  if (blocks.empty() || blocks.last()->last < end) return blocks;
  const auto shorter = std::make_shared<const Reservation>(cut(*blocks.last(), end));
  blocks.pop();
  blocks.push(shorter);
  return blocks;
}

void check_values(const Reservation& block) {
  check(block.first >= 0 && block.first <= block.last && block.last <= most_rounds,
        "rounds {} to {}: a block has a first round, and a last that is not before it.", block.first, block.last);
  std::int64_t pass = 0;
  for (const PassCharge& largest : block.passes) {
    check(largest.pass > pass, "pass {} after pass {}: passes count from 1 and ascend.", largest.pass, pass);
    check_charge(largest.charge);
    pass = largest.pass;
  }
  std::int64_t releases = 0;
  for (const auto& [charge, count] : block.charges) {
    check(count >= 1 && count <= most_releases - releases, "{} releases in a block: 1 to {} can be counted.", count,
          most_releases - releases);
    check_charge(charge);
    releases += count;
  }
  check(releases == 0 || !block.passes.empty(),
        "{} releases of no pass: whatever is released costs the records of some pass. Name the passes.", releases);
}

}  // namespace

void LedgerRules::require(const LedgerBook& book, const LedgerRow& row) {
  std::visit([&](const auto& kind) { require_row(book, kind); }, row);
}

void LedgerRules::apply(LedgerBook& book, const LedgerRow& row) {
  if (!std::holds_alternative<EndRow>(row)) book.cuts_.clear();
  std::visit([&](const auto& kind) { apply_row(book, kind); }, row);
}

void LedgerRules::require_row(const LedgerBook& /*book*/, const StartRow& /*row*/) {}
void LedgerRules::apply_row(LedgerBook& /*book*/, const StartRow& /*row*/) {}

void LedgerRules::require_row(const LedgerBook& book, const OpenRow& row) {
  const LedgerRun& run = row.run;
  check(!run.id.empty() && consists_of(run.id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._:-"),
        "run id '{}': it must be letters, digits and . _ : -.", run.id);
  check(find_run(book, run.id) == nullptr,
        "run '{}' stands in the ledger already: noise is derived from the id, so that each run needs its own. Take "
        "that run up again, or begin one with another id.",
        run.id);
  check_digits(run.determined_by);
  check(run.batch >= 1, "a batch of {} records: 1 or more.", run.batch);
  check(std::isfinite(run.batch_units) && run.batch_units >= 1, "a batch of {} units: 1 or more.", run.batch_units);
  check_accumulation(run.accumulation);
  if (!run.accumulation.any()) static_cast<void>(stated_correlation(run.parameters));
  check(!run.clients.empty() && run.clients.front().first >= 0,
        "no client, or one below 0: a run has clients from 0 on.");
  std::int64_t next = 0;
  for (const auto& [first, through] : run.clients) {
    check(first >= next && through >= first, "the run's clients do not ascend: each is named once, in order.");
    next = std::int64_t{through} + 1;
  }
}

void LedgerRules::apply_row(LedgerBook& book, const OpenRow& row) {
  LedgerEntry entry{row.run, row.time, 0, {}};
  for (const ClientRange& clients : united(row.run.clients)) {
    entry.accounts.emplace_hint(entry.accounts.end(), clients.first, LedgerAccount{clients, {}, 0, 0, 0, std::nullopt});
  }
  book.entries_.push_back(std::move(entry));
  book.at_hand_ = book.entries_.size() - 1;
}

void LedgerRules::require_row(const LedgerBook& book, const ReserveRow& row) {
  const Reservation& block = row.reservation;
  check_values(block);
  check_accounts(book, row.run, block.clients, [&](const LedgerAccount& account, Client client) {
    const Round reserved = account.charged;
    check(block.first >= reserved,
          "round {} of client {} is reserved already: rounds below {} are. Reserve from there on.", block.first, client,
          reserved);
    check(block.first == reserved, "rounds {} to {} of client {} would be left out: blocks follow one another.",
          reserved, block.first - 1, client);
  });
}

LedgerEntry& LedgerRules::at_hand(LedgerBook& book) {
  return book.entries_[book.at_hand_];
}

void LedgerRules::apply_row(LedgerBook& book, const ReserveRow& row) {
  const auto block = std::make_shared<const Reservation>(row.reservation);
  change_accounts(at_hand(book).accounts, block->clients, [&](LedgerAccount& account) {
    account.blocks.push(block);
    account.charged = block->last + 1;
    account.reserved = std::max(account.reserved, account.charged);
  });
}

void LedgerRules::require_row(const LedgerBook& book, const ResumeRow& row) {
  const LedgerEntry* entry = find_run(book, row.run);
  check(entry != nullptr, "run '{}' is not in the ledger: only what began can be taken up again.", row.run);
  check(entry->run.determined_by == row.determined_by,
        "run '{}' would not be the same: its data, configuration, keys or build differ, or it cannot be replayed. "
        "Begin a new run, whose releases are charged anew.",
        row.run);
}

void LedgerRules::apply_row(LedgerBook& book, const ResumeRow& row) {
  const auto entry =
      std::find_if(book.entries_.begin(), book.entries_.end(), [&](const auto& e) { return e.run.id == row.run; });
  book.at_hand_ = static_cast<std::size_t>(entry - book.entries_.begin());
  ++entry->taken_up;
  change_accounts(entry->accounts, {0, last_client}, [](LedgerAccount& account) {
    account.taken_up = account.charged;
    account.end.reset();
  });
}

void LedgerRules::require_row(const LedgerBook& book, const EndRow& row) {
  check_accounts(book, row.run, row.clients, [&](const LedgerAccount& account, Client client) {
    check(row.rounds >= 0 && row.rounds <= account.charged,
          "client {} has released {} rounds and reserved {}: what is released must be reserved before.", client,
          row.rounds, account.charged);
  });
}

void LedgerRules::apply_row(LedgerBook& book, const EndRow& row) {
  change_accounts(at_hand(book).accounts, row.clients, [&](LedgerAccount& account) {
    account.charged = std::max(row.rounds, account.taken_up);
    account.end = row.reason;
    const auto [place, is_new] = book.cuts_.try_emplace({account.blocks.identity(), account.charged});
    auto& [before, after] = place->second;
    if (is_new) {
      before = account.blocks;
      after = cut(before, account.charged);
    }
    account.blocks = after;
  });
}

}  // namespace starling
