#include "starling/privacy/accounts.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace starling {

namespace {

constexpr const char* digest_policy = "Poly1305 of the clipped integers, into a release key that BLAKE2b makes";

/// A block that lasts no longer than this is a short one.
constexpr auto quick_block = std::chrono::milliseconds(500);

bool same_releases(const Spending& a, const Spending& b) {
  return a.all().counts() == b.all().counts() && a.dearest_of_passes().counts() == b.dearest_of_passes().counts();
}

}  // namespace

Accounts::Accounts(const Protection& mechanism, Prices prices, Round rounds, Client first,
                   std::vector<ServedRounds> served)
    : mechanism_(mechanism), prices_(std::move(prices)), rounds_(rounds), first_(first), clients_(served.size()) {
  for (std::size_t k = 0; k < clients_.size(); ++k) {
    clients_[k].served = served[k];
    if (prices_.constant()) clients_[k].price = prices_.at(number(k), 0);
  }
}

void Accounts::keep_in(std::vector<Ledger*> ledgers, const BlockSizes& blocks) {
  check(ledgers.size() == clients_.size(), "{} ledgers for {} clients (each needs one)", ledgers.size(),
        clients_.size());
  ledgers_ = std::move(ledgers);
  blocks_ = blocks;
  for (std::size_t k = 0; k < clients_.size(); ++k) clients_[k].reserved = ledgers_[k]->reserved_through(number(k));
}

void Accounts::limit(std::vector<Budget> budgets) {
  check((!ledgers_.empty() || clients_.empty()) && budgets.size() == clients_.size(),
        "{} budgets for {} clients (each needs one, and a ledger to look losses up in)", budgets.size(),
        clients_.size());
  for (std::size_t k = 0; k < clients_.size(); ++k) clients_[k].budget = budgets[k];
}

bool Accounts::idle() const {
  return std::all_of(clients_.begin(), clients_.end(), [this](const Holder& client) { return end_of(client) == 0; });
}

bool Accounts::open(bool reserves) {
  if (reserves && !ledgers_.empty()) reserve(0);
  return std::any_of(clients_.begin(), clients_.end(),
                     [this](const Holder& client) { return !client.stopped && end_of(client) > 0; });
}

/// Reserves client first + k's rounds up to t; false if its budget ends before.
bool Accounts::reach(std::size_t k, Round t) {
  const Holder& client = clients_[k];
  // A client that sat rounds out may be more than a block behind.
  while (t >= client.reserved && !client.stopped && client.reserved < end_of(client)) reserve(t);
  check<FailureError>(t < client.reserved || client.stopped,
                      "client {} would release in round {}, which nobody has reserved (the run or its stream is over)",
                      number(k), t);
  return t < client.reserved;
}

double Accounts::price_of(std::size_t k, Round t) const {
  const Holder& client = clients_[k];
  return client.price ? *client.price : prices_.at(number(k), t);
}

/// Of rounds from `t` to `last` those that are alike: of one pass, where the price never changes, else a single one.
Round Accounts::alike(const Holder& client, Round t, Round last) const {
  if (!client.price) return 1;
  const std::optional<Round>& of_pass = client.served.of_pass;
  const Round end = of_pass ? (pass(client, t) + 1) * std::max<Round>(*of_pass, 1) : last + 1;
  return std::min(end, last + 1) - t;
}

Round Accounts::end_of(const Holder& client) const {
  return std::min(rounds_, client.served.of_all.value_or(rounds_));
}

/// Write-ahead for every client whose reserved rounds end with round t: clients of a rank are in step, so that one wait
/// for the disk serves them all.
void Accounts::reserve(Round t) {
  const auto now = std::chrono::steady_clock::now();
  pace_ = t > 0 && now - reserved_at_ < quick_block ? BlockSizes::Pace::quick : BlockSizes::Pace::ordinary;
  reserved_at_ = now;
  std::map<Ledger*, std::vector<Reservation>> blocks;
  for (std::size_t k = 0; k < clients_.size(); ++k) {
    Holder& client = clients_[k];
    if (client.stopped || client.reserved > t || client.reserved >= end_of(client)) continue;
    if (std::optional<Reservation> block = affordable_block(k)) {
      blocks[ledgers_[k]].push_back(std::move(*block));
    } else {
      client.stopped = true;
    }
  }
  for (const auto& [ledger, reservations] : blocks) {
    ledger->reserve(reservations);
    for (const Reservation& block : reservations) {
      clients_[static_cast<std::size_t>(block.client - first_)].reserved = block.last + 1;
    }
  }
}

Reservation Accounts::block(std::size_t k, Round last) const {
  const Holder& client = clients_[k];
  Reservation block;
  block.client = number(k);
  block.first = client.reserved;
  block.last = last;
  std::map<std::int64_t, double> dearest;
  Round count = 0;
  for (Round t = block.first; t <= last; t += count) {
    count = alike(client, t, last);
    const double price = price_of(k, t);
    const Charge charge = mechanism_.charge(price);
    if (block.charges.empty() || block.charges.back().charge != charge) block.charges.push_back({charge, 0});
    block.charges.back().count += count;
    double& most = dearest[pass(client, t)];
    most = std::max(most, price);
  }
  for (const auto& [number, price] : dearest) block.passes.push_back({number + 1, mechanism_.charge(price)});
  block.records = client.served.records
                      ? fmt::format("of 0..{} in passes {}..{}", std::max<std::int64_t>(*client.served.records - 1, 0),
                                    dearest.begin()->first + 1, dearest.rbegin()->first + 1)
                      : "as they come";
  block.digest = digest_policy;
  return block;
}

bool Accounts::affordable(std::size_t k, const Reservation& block) const {
  const std::optional<Budget>& budget = clients_[k].budget;
  if (!budget) return true;
  const auto groups = budget->of_client ? ledgers_[k]->spent_by_client(block.client, &block)
                                        : ledgers_[k]->spent_by_record(block.client, &block);
  // The plain sum is a bound at any delta, and quick.
  if (compose(groups, 0).epsilon <= budget->epsilon) return true;
  return compose(groups, budget->delta.value_or(default_delta(groups))).epsilon <= budget->epsilon;
}

/// The next block, cut to what the budget allows; nothing if that is no round.
std::optional<Reservation> Accounts::affordable_block(std::size_t k) const {
  const Holder& client = clients_[k];
  const Round size = std::min(blocks_.after(client.reserved, pace_), end_of(client) - client.reserved);
  if (Reservation whole = block(k, client.reserved + size - 1); affordable(k, whole)) return whole;
  Round some = 0;         // rounds that are affordable
  Round too_many = size;  // rounds that are not
  while (too_many - some > 1) {
    const Round middle = some + (too_many - some) / 2;
    (affordable(k, block(k, client.reserved + middle - 1)) ? some : too_many) = middle;
  }
  if (some == 0) return std::nullopt;
  return block(k, client.reserved + some - 1);
}

std::vector<ClientLosses> Accounts::losses(std::optional<double> delta) const {
  std::vector<ClientLosses> losses;
  for (std::size_t k = 0; k < clients_.size(); ++k) {
    if (k > 0 && same_releases(clients_[k].spending, clients_[k - 1].spending)) {
      losses.push_back(losses.back());
    } else {
      losses.push_back(losses_of(clients_[k].spending, mechanism_, delta));
    }
  }
  return losses;
}

std::int64_t Accounts::stopped() const {
  return std::count_if(clients_.begin(), clients_.end(), [](const Holder& client) { return client.stopped; });
}

void Accounts::close(LedgerEnd reason) {
  std::map<Ledger*, std::vector<LedgerEnding>> endings;
  for (std::size_t k = 0; k < ledgers_.size(); ++k) {
    endings[ledgers_[k]].push_back({number(k), clients_[k].paid, clients_[k].stopped ? LedgerEnd::budget : reason});
  }
  for (const auto& [ledger, rows] : endings) ledger->end(rows);
  // A run that was taken up again may have released more before than now.
  for (std::size_t k = 0; k < ledgers_.size(); ++k) {
    const Round charged = ledgers_[k]->reserved_through(number(k));
    for (Round t = clients_[k].paid; t < charged; ++t) {
      clients_[k].spending.add(price_of(k, t), pass(clients_[k], t));
    }
  }
}

Round Accounts::reserved_through() const {
  Round most = 0;
  for (const Holder& client : clients_) most = std::max(most, client.reserved);
  return most;
}

std::int64_t Accounts::leave_out_releases(Round end) {
  std::int64_t most = 0;
  std::map<Ledger*, std::vector<Reservation>> blocks;
  for (std::size_t k = 0; k < clients_.size(); ++k) {
    Holder& client = clients_[k];
    check(client.reserved <= end, "rounds before {} left out, where those before {} are reserved (they stay so)", end,
          client.reserved);
    most = std::max(most, pay_lost(k));
    if (client.reserved == end) continue;
    blocks[ledgers_[k]].push_back({number(k), client.reserved, end - 1, "none: left out", {}, {}, digest_policy});
    client.reserved = end;
  }
  for (const auto& [ledger, reservations] : blocks) ledger->reserve(reservations);
  return most;
}

/// What is reserved and was not paid here: processes of which nothing else is known had it. Each may have opened a
/// stream that has no passes anew.
std::int64_t Accounts::pay_lost(std::size_t k) {
  Holder& client = clients_[k];
  const std::int64_t before = client.spending.releases();
  const LedgerEntry& run = *ledgers_[k]->book().at_hand();
  double dearest = 0;
  for (const Reservation& block : run.account(number(k)).blocks) {
    if (block.charges.empty()) continue;  // was left out
    for (Round t = std::max(block.first, client.paid); t <= block.last; ++t) {
      const double price = price_of(k, t);
      client.spending.add(price, pass(client, t));
      dearest = std::max(dearest, price);
    }
  }
  client.paid = client.reserved;
  if (!client.served.of_pass) {
    while (++client.feed < run.taken_up) {
      if (dearest > 0) client.spending.assume_pass(dearest, client.feed);
    }
  }
  return client.spending.releases() - before;
}

void Accounts::persist(Snapshot& snapshot) {
  for (Holder& client : clients_) snapshot(client.spending, client.paid, client.feed, client.stopped);
}

}  // namespace starling
