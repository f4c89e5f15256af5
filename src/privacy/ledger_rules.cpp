#include "ledger_rules.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "starling/core/check.hpp"

namespace starling {

namespace {

constexpr std::int64_t most_rounds = 9'000'000'000'000'000;  // doubles hold them, as others read JSON
constexpr std::int64_t most_releases = 1'000'000'000'000;    // of one block

bool consists_of(const std::string& text, std::string_view characters) {
  return text.find_first_not_of(characters) == std::string::npos;
}

void check_digits(const std::string& digest) {
  check(consists_of(digest, "0123456789abcdef"),
        "determined_by '{}' is no digest (it must be hexadecimal digits, or empty)", digest);
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
  check(fits, "a charge with epsilon {}, delta {}, mu {} (not what a charge of its kind has)", epsilon, delta, mu);
}

/// The run that rows are written for.
const LedgerEntry& current(const LedgerBook& book) {
  check(book.at_hand() != nullptr, "no run is at hand (rows belong to one) begin it first");
  return *book.at_hand();
}

const LedgerAccount& open_account(const LedgerBook& book, const std::string& run, Client client) {
  const LedgerEntry& entry = current(book);
  check(entry.run.id == run, "run '{}' is not at hand, '{}' is (one run writes at a time) take it up first", run,
        entry.run.id);
  const LedgerAccount& account = entry.account(client);
  check(!account.end, "client {} has ended in run '{}' (nothing more is released then) take the run up again first",
        client, run);
  return account;
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

/// Leaves of the block, which has begun, the rounds below `end`.
void cut(Reservation& block, Round end) {
  const bool one_a_round = releases_of(block) == block.last - block.first + 1;
  block.last = end - 1;
  if (one_a_round) block.charges = first_of(block.charges, end - block.first);
}

void check_values(const Reservation& block) {
  check(block.first >= 0 && block.first <= block.last && block.last <= most_rounds,
        "rounds {} to {} (a block has a first round, and a last that is not before it)", block.first, block.last);
  std::int64_t pass = 0;
  for (const PassCharge& largest : block.passes) {
    check(largest.pass > pass, "pass {} after pass {} (passes count from 1 and ascend)", largest.pass, pass);
    check_charge(largest.charge);
    pass = largest.pass;
  }
  std::int64_t releases = 0;
  for (const auto& [charge, count] : block.charges) {
    check(count >= 1 && count <= most_releases - releases, "{} releases in a block (1 to {} can be counted)", count,
          most_releases - releases);
    check_charge(charge);
    releases += count;
  }
  check(releases == 0 || !block.passes.empty(),
        "{} releases of no pass (whatever is released costs the records of some pass) name the passes", releases);
}

}  // namespace

void LedgerRules::require(const LedgerBook& book, const LedgerRow& row) {
  std::visit([&](const auto& kind) { require_row(book, kind); }, row);
}

void LedgerRules::apply(LedgerBook& book, const LedgerRow& row) {
  std::visit([&](const auto& kind) { apply_row(book, kind); }, row);
}

void LedgerRules::require_row(const LedgerBook& /*book*/, const StartRow& /*row*/) {}
void LedgerRules::apply_row(LedgerBook& /*book*/, const StartRow& /*row*/) {}

void LedgerRules::require_row(const LedgerBook& book, const OpenRow& row) {
  const LedgerRun& run = row.run;
  check(!run.id.empty() && consists_of(run.id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._:-"),
        "run id '{}' (it must be letters, digits and . _ : -)", run.id);
  check(
      find_run(book, run.id) == nullptr,
      "run '{}' stands in the ledger already (noise is derived from the id, so that each run needs its own) take that "
      "run up again, or begin one with another id",
      run.id);
  check_digits(run.determined_by);
  check(run.batch >= 1, "a batch of {} records (1 or more)", run.batch);
  check(std::isfinite(run.batch_units) && run.batch_units >= 1, "a batch of {} units (1 or more)", run.batch_units);
  check(!run.clients.empty() && run.clients.front() >= 0, "no client, or one below 0 (a run has clients from 0 on)");
  const auto out_of_order = std::adjacent_find(run.clients.begin(), run.clients.end(), std::greater_equal<>());
  check(out_of_order == run.clients.end(), "the run's clients do not ascend (each is named once, in order)");
}

void LedgerRules::apply_row(LedgerBook& book, const OpenRow& row) {
  LedgerEntry entry{row.run, row.time, 0, {}};
  for (const Client client : row.run.clients) entry.accounts.push_back({client, {}, 0, 0, 0, std::nullopt});
  book.entries_.push_back(std::move(entry));
  book.at_hand_ = book.entries_.size() - 1;
}

void LedgerRules::require_row(const LedgerBook& book, const ReserveRow& row) {
  const Reservation& block = row.reservation;
  check_values(block);
  const Round reserved = open_account(book, row.run, block.client).charged;
  check(block.first >= reserved,
        "round {} of client {} is reserved already (rounds below {} are) reserve from there on", block.first,
        block.client, reserved);
  check(block.first == reserved, "rounds {} to {} of client {} would be left out (blocks follow one another)", reserved,
        block.first - 1, block.client);
}

LedgerAccount& LedgerRules::account_in(LedgerBook& book, Client client) {
  return const_cast<LedgerAccount&>(book.entries_[book.at_hand_].account(client));
}

void LedgerRules::apply_row(LedgerBook& book, const ReserveRow& row) {
  const Reservation& block = row.reservation;
  LedgerAccount& account = account_in(book, block.client);
  account.blocks.push_back(block);
  account.charged = block.last + 1;
  account.reserved = std::max(account.reserved, account.charged);
}

void LedgerRules::require_row(const LedgerBook& book, const ResumeRow& row) {
  const LedgerEntry* entry = find_run(book, row.run);
  check(entry != nullptr, "run '{}' is not in the ledger (only what began can be taken up again)", row.run);
  check(
      entry->run.determined_by == row.determined_by,
      "run '{}' would not be the same (its data, configuration, keys or build differ, or it cannot be replayed) begin "
      "a new run, whose releases are charged anew",
      row.run);
}

void LedgerRules::apply_row(LedgerBook& book, const ResumeRow& row) {
  const auto entry =
      std::find_if(book.entries_.begin(), book.entries_.end(), [&](const auto& e) { return e.run.id == row.run; });
  book.at_hand_ = static_cast<std::size_t>(entry - book.entries_.begin());
  ++entry->taken_up;
  for (LedgerAccount& account : entry->accounts) {
    account.taken_up = account.charged;
    account.end.reset();
  }
}

void LedgerRules::require_row(const LedgerBook& book, const EndRow& row) {
  const Round reserved = open_account(book, row.run, row.client).charged;
  check(row.rounds >= 0 && row.rounds <= reserved,
        "client {} has released {} rounds and reserved {} (what is released must be reserved before)", row.client,
        row.rounds, reserved);
}

void LedgerRules::apply_row(LedgerBook& book, const EndRow& row) {
  LedgerAccount& account = account_in(book, row.client);
  account.charged = std::max(row.rounds, account.taken_up);
  account.end = row.reason;
  auto& blocks = account.blocks;
  std::erase_if(blocks, [&](const Reservation& block) { return block.first >= account.charged; });
  if (!blocks.empty() && blocks.back().last >= account.charged) cut(blocks.back(), account.charged);
}

}  // namespace starling
