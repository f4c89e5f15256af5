#include "privacy/ledger/accounts.hpp"

#include <bit>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "core/check.hpp"
#include "privacy/ledger/ledger.hpp"
#include "privacy/mechanism.hpp"

namespace starling {

namespace {

constexpr const char* digest_policy = "Poly1305 of the clipped integers, into the start of a ChaCha20 stream";

constexpr int most_looked_at = 16;               // clients whose budgets are followed to their ends beforehand
constexpr Round most_changing_prices = 100'000;  // rounds of different prices that are added up for that
constexpr std::size_t most_known = 1024;         // losses of so many are remembered

/// A block of rounds in which the client makes no release.
Reservation no_release(Client client, Round first, Round end) {
  return {client, first, end - 1, "none: left out", {}, {}, digest_policy};
}

/// A block that lasts no longer than this is a short one.
constexpr auto quick_block = std::chrono::milliseconds(500);

}  // namespace

BlockSizes::BlockSizes(Round most, bool doubling) : most_(most), doubling_(doubling) {
  check(most >= 1, "blocks of {} rounds: 1 or more are reserved together.", most);
}

Round BlockSizes::after(Round reserved, Pace pace) const {
  if (!doubling_) return most_ - reserved % most_;
  const Round most = pace == Pace::quick ? std::max(most_, most_quick) : most_;
  const Round next = reserved + 1;
  if (reserved >= most) return most - next % most;
  return static_cast<Round>(std::bit_ceil(static_cast<std::uint64_t>(next) + 1)) - next;
}

Accounts::Accounts(const Protection& mechanism, Prices prices, Round rounds, Client first,
                   std::vector<ServedRounds> served)
    : mechanism_(mechanism), prices_(std::move(prices)), rounds_(rounds), first_(first), clients_(served.size()) {
  static_assert(sizeof(Holder) <= 72, "there may be a million of them");
  share_terms([&](std::size_t k) {
    Terms terms;
    terms.served = served[k];
    terms.served.uses = std::clamp<std::int64_t>(served[k].uses, 1, std::max<Round>(rounds_, 1));
    if (prices_.constant()) terms.price = prices_.at(number(k), 0);
    return terms;
  });
}

/// Gives each client its terms, of which equal ones stand once.
template <class TermsOf>
void Accounts::share_terms(const TermsOf& terms_of_client) {
  std::map<Terms, std::uint32_t> known;
  std::vector<Terms> all;
  for (std::size_t k = 0; k < clients_.size(); ++k) {
    const auto [place, is_new] = known.emplace(terms_of_client(k), static_cast<std::uint32_t>(all.size()));
    if (is_new) all.push_back(place->first);
    clients_[k].terms = place->second & 0x7fffffffU;  // there are no more clients than that
  }
  terms_ = std::move(all);
}

void Accounts::keep_in(std::vector<Ledger*> ledgers, const BlockSizes& blocks) {
  check(ledgers.size() == clients_.size() || ledgers.size() == 1, "{} ledgers for {} clients: each needs one.",
        ledgers.size(), clients_.size());
  ledgers_ = std::move(ledgers);
  const bool shared = std::adjacent_find(ledgers_.begin(), ledgers_.end(), std::not_equal_to<>()) == ledgers_.end();
  if (shared && !ledgers_.empty()) ledgers_ = {ledgers_.front()};
  blocks_ = blocks;
  for (std::size_t k = 0; k < clients_.size(); ++k) {
    clients_[k].reserved = is_lost(clients_[k]) ? 0 : ledger_of(k).reserved_through(number(k));
  }
}

void Accounts::skip_to_begin() {
  std::map<Ledger*, std::vector<Reservation>> blocks;
  for (std::size_t k = 0; k < clients_.size(); ++k) {
    Holder& client = clients_[k];
    const Round begin = terms_of(client).served.begin;
    if (is_lost(client)) continue;
    client.paid = std::max(client.paid, begin);
    if (client.reserved >= begin) continue;
    add_row(blocks[&ledger_of(k)], no_release(number(k), client.reserved, begin));
    client.reserved = begin;
  }
  for (const auto& [ledger, reservations] : blocks) ledger->reserve(reservations);
}

void Accounts::count_before(const std::vector<std::optional<SingleRelease>>& releases) {
  check(releases.size() == clients_.size(), "{} releases before the rounds of {} clients: one each.", releases.size(),
        clients_.size());
  share_terms([&](std::size_t k) {
    Terms terms = terms_of(clients_[k]);
    terms.before = releases[k];
    return terms;
  });
}

void Accounts::limit(const std::vector<Budget>& budgets) {
  check((!ledgers_.empty() || clients_.empty()) && budgets.size() == clients_.size(),
        "{} budgets for {} clients: each needs one, and a ledger to look losses up in.", budgets.size(),
        clients_.size());
  share_terms([&](std::size_t k) {
    Terms terms = terms_of(clients_[k]);
    terms.budget = budgets[k];
    return terms;
  });
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
                      "client {} would release in round {}, which nobody has reserved: the run or its stream is over.",
                      number(k), t);
  return t < client.reserved;
}

double Accounts::price_of(std::size_t k, Round t) const {
  const std::optional<double>& price = terms_of(clients_[k]).price;
  return price ? *price : prices_.at(number(k), t);
}

/// The rounds from `t` up to `last` with the same charge: those of one pass where the price never changes, else one.
Round Accounts::alike(const Holder& client, Round t, Round last) const {
  if (!terms_of(client).price) return 1;
  const ServedRounds& served = terms_of(client).served;
  const Round end =
      served.of_pass ? served.begin + (pass(client, t) + 1) * std::max<Round>(*served.of_pass, 1) : last + 1;
  return std::min(end, last + 1) - t;
}

Round Accounts::end_of(const Holder& client) const {
  return is_lost(client) ? 0 : std::min(rounds_, terms_of(client).served.of_all.value_or(rounds_));
}

/// Write-ahead for every client whose reserved rounds end with round t: clients of a rank are in step, so that one wait
/// for the disk serves them all.
void Accounts::reserve(Round t) {
  const auto now = std::chrono::steady_clock::now();
  pace_ = t > 0 && now - reserved_at_ < quick_block ? BlockSizes::Pace::quick : BlockSizes::Pace::ordinary;
  reserved_at_ = now;
  std::map<Ledger*, std::vector<Reservation>> blocks;
  std::optional<bool> previous;  // whether the client before can, if it needs to
  for (std::size_t k = 0; k < clients_.size(); ++k) {
    Holder& client = clients_[k];
    if (client.stopped || client.reserved > t || client.reserved >= end_of(client)) {
      previous.reset();
    } else if (previous && reserves_like_previous(k)) {
      if (*previous) blocks[&ledger_of(k)].back().clients.through = number(k);
    } else {
      std::optional<Reservation> block = affordable_block(k);
      previous = block.has_value();
      if (block) add_row(blocks[&ledger_of(k)], std::move(*block));
    }
    if (previous == false) client.stopped = true;
  }
  for (const auto& [ledger, reservations] : blocks) {
    ledger->reserve(reservations);
    for (const Reservation& block : reservations) {
      for (Client u = block.clients.first; u <= block.clients.through; ++u) {
        clients_[static_cast<std::size_t>(u - first_)].reserved = block.last + 1;
      }
    }
  }
}

/// Whether client k, which needs a block as client k - 1 does, can have the same.
bool Accounts::reserves_like_previous(std::size_t k) const {
  const Holder& client = clients_[k];
  const Holder& other = clients_[k - 1];
  if (ledgers_.size() > 1 || client.terms != other.terms || client.reserved != other.reserved ||
      client.feed != other.feed) {
    return false;
  }
  return !terms_of(client).budget || ledger_of(k).book().alike(number(k - 1), number(k));
}

Reservation Accounts::block(std::size_t k, Round last) const {
  const Holder& client = clients_[k];
  Reservation block;
  block.clients = number(k);
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
  const std::int64_t uses = terms_of(client).served.uses;
  for (const auto& [number, price] : dearest) {
    // The j-th use of a unit is in round j - 1 or later, so that earlier blocks need not pay for it.
    for (std::int64_t use = 1; use <= std::min<std::int64_t>(uses, last + 1); ++use) {
      block.passes.push_back({number * uses + use, mechanism_.charge(price)});
    }
  }
  const std::optional<std::int64_t>& records = terms_of(client).served.records;
  block.records = records ? fmt::format("of 0..{} in passes {}..{}", std::max<std::int64_t>(*records - 1, 0),
                                        dearest.begin()->first + 1, dearest.rbegin()->first + 1)
                          : "as they come";
  block.digest = digest_policy;
  return block;
}

bool Accounts::affordable(std::size_t k, const Reservation& block) const {
  const std::optional<Budget>& budget = terms_of(clients_[k]).budget;
  if (!budget) return true;
  const LossLevel level = budget->of_client ? LossLevel::client : level_of(mechanism_.unit());
  const auto groups = ledger_of(k).book().spent(number(k), level, &block);
  // The plain sum is a bound at any delta, and quick.
  if (compose(groups, 0).epsilon <= budget->epsilon) return true;
  return compose(groups, budget->delta.value_or(default_delta(groups))).epsilon <= budget->epsilon;
}

/// Rounds, of the next `size`, that the budget allows.
Round Accounts::affordable_rounds(std::size_t k, Round size) const {
  const Holder& client = clients_[k];
  if (size <= 0 || affordable(k, block(k, client.reserved + size - 1))) return std::max<Round>(size, 0);
  Round some = 0;         // rounds that are affordable
  Round too_many = size;  // rounds that are not
  while (too_many - some > 1) {
    const Round middle = some + (too_many - some) / 2;
    (affordable(k, block(k, client.reserved + middle - 1)) ? some : too_many) = middle;
  }
  return some;
}

/// The next block, cut to the budget; nothing if the budget allows no round.
std::optional<Reservation> Accounts::affordable_block(std::size_t k) const {
  const Holder& client = clients_[k];
  const Round some =
      affordable_rounds(k, std::min(blocks_.after(client.reserved, pace_), end_of(client) - client.reserved));
  if (some == 0) return std::nullopt;
  return block(k, client.reserved + some - 1);
}

std::optional<Round> Accounts::stopped_after() const {
  std::optional<Round> least;
  for (const Holder& client : clients_) {
    if (client.stopped) least = std::min(least.value_or(client.paid), client.paid);
  }
  return least;
}

std::optional<Round> Accounts::will_stop_after() const {
  std::optional<Round> least;
  int looked_at = 0;
  for (std::size_t k = 0; k < clients_.size() && looked_at < most_looked_at; ++k) {
    const Holder& client = clients_[k];
    const Round left = end_of(client) - client.reserved;
    if (!terms_of(client).budget || left < 0 || (left == 0 && !client.stopped)) continue;
    if (!terms_of(client).price && left > most_changing_prices) continue;
    if (k > 0 && reserves_like_previous(k)) continue;
    ++looked_at;
    const Round some = client.stopped ? 0 : affordable_rounds(k, left);
    if (some < left) least = std::min(least.value_or(client.reserved + some), client.reserved + some);
  }
  return least;
}

Round Accounts::will_end_after() const {
  Round most = 0;
  for (std::size_t k = 0; k < clients_.size(); ++k) {
    const Holder& client = clients_[k];
    const Round left = end_of(client) - client.reserved;
    const bool limited = terms_of(client).budget && left > 0;
    if (limited && k > 0 && reserves_like_previous(k)) continue;
    most = std::max(most, !limited         ? end_of(client)
                          : client.stopped ? client.reserved
                                           : client.reserved + affordable_rounds(k, left));
  }
  return most;
}

ClientLosses Accounts::losses(std::size_t k, std::optional<double> delta) const {
  const Terms& terms = terms_of(clients_[k]);
  return losses_of(clients_[k].spending, mechanism_, delta, terms.before, terms.served.uses);
}

/// Clients with equal releases (most have) share one composition: that of the one with most records in a release before
/// the rounds.
ClientLosses Accounts::worst_losses(std::optional<double> delta) const {
  using Counts = std::map<double, std::int64_t>;
  struct Alike {
    const Spending* spending;
    std::optional<SingleRelease> before;
    std::int64_t uses;
  };
  std::map<std::tuple<Counts, Counts, std::optional<Charge>, std::int64_t>, Alike> known;
  ClientLosses worst;
  const auto settle = [&] {
    for (const auto& [counts, alike] : known) {
      worst.take_worse(losses_of(*alike.spending, mechanism_, delta, alike.before, alike.uses));
    }
    known.clear();
  };
  for (const Holder& client : clients_) {
    if (known.size() >= most_known) settle();
    const std::optional<SingleRelease>& before = terms_of(client).before;
    const std::int64_t uses = terms_of(client).served.uses;
    const auto charge = before ? std::optional(before->charge) : std::nullopt;
    const auto [place, is_new] =
        known.try_emplace({client.spending.all().counts(), client.spending.dearest_of_passes().counts(), charge, uses},
                          Alike{&client.spending, before, uses});
    if (is_new || !before) continue;
    SingleRelease& most = *place->second.before;
    most.of_each_batch = std::max(most.of_each_batch, before->of_each_batch);
    most.of_client = std::max(most.of_client, before->of_client);
  }
  settle();
  return worst;
}

std::int64_t Accounts::stopped() const {
  return std::count_if(clients_.begin(), clients_.end(), [](const Holder& client) { return client.stopped; });
}

void Accounts::close(LedgerEnd reason) {
  if (ledgers_.empty()) return;
  std::map<Ledger*, std::vector<LedgerEnding>> endings;
  for (std::size_t k = 0; k < clients_.size(); ++k) {
    if (is_lost(clients_[k])) continue;
    const LedgerEnd end = clients_[k].stopped ? LedgerEnd::budget : reason;
    add_row(endings[&ledger_of(k)], LedgerEnding{number(k), clients_[k].paid, end});
  }
  for (const auto& [ledger, rows] : endings) ledger->end(rows);
  // A run that was taken up again may have released more before than now.
  for (std::size_t k = 0; k < clients_.size(); ++k) {
    if (is_lost(clients_[k])) continue;
    const Round charged = ledger_of(k).reserved_through(number(k));
    for (Round t = clients_[k].paid; t < charged; ++t) {
      clients_[k].spending.add(price_of(k, t), pass(clients_[k], t));
    }
  }
}

Round Accounts::reserved_through() const {
  Round most = 0;
  if (ledgers_.empty()) return most;
  for (const Holder& client : clients_) most = std::max(most, client.reserved);
  return most;
}

std::int64_t Accounts::leave_out_releases(Round end, bool same) {
  std::int64_t most = 0;
  std::map<Ledger*, std::vector<Reservation>> blocks;
  for (std::size_t k = 0; k < clients_.size(); ++k) {
    Holder& client = clients_[k];
    if (is_lost(client)) continue;
    check(client.reserved <= end, "rounds before {} left out, where those before {} are reserved: they stay so.", end,
          client.reserved);
    most = std::max(most, pay_lost(k, same));
    if (client.reserved == end) continue;
    add_row(blocks[&ledger_of(k)], no_release(number(k), client.reserved, end));
    client.reserved = end;
  }
  for (const auto& [ledger, reservations] : blocks) ledger->reserve(reservations);
  return most;
}

/// Counts the rounds below `end` that the ledger charges and that were not paid. Returns the dearest price.
double Accounts::pay_reserved(std::size_t k, Round end) {
  Holder& client = clients_[k];
  double dearest = 0;
  for (const Reservation* block : ledger_of(k).book().at_hand()->account(number(k)).blocks.in_order()) {
    if (block->charges.empty()) continue;  // was left out
    for (Round t = std::max(block->first, client.paid); t <= std::min(block->last, end - 1); ++t) {
      const double price = price_of(k, t);
      client.spending.add(price, pass(client, t));
      dearest = std::max(dearest, price);
    }
  }
  client.paid = end;
  return dearest;
}

/// Counts rounds that are reserved and were not paid here: earlier processes had them. Each may have opened a
/// stream that has no passes anew.
std::int64_t Accounts::pay_lost(std::size_t k, bool same) {
  Holder& client = clients_[k];
  const std::int64_t before = client.spending.releases();
  const double dearest = pay_reserved(k, client.reserved);
  if (!same && !terms_of(client).served.of_pass) {
    while (++client.feed < ledger_of(k).book().at_hand()->taken_up) {
      if (dearest > 0) client.spending.assume_pass(dearest, client.feed);
    }
  }
  return client.spending.releases() - before;
}

void Accounts::persist(Snapshot& snapshot) {
  snapshot.each_client(clients_.size(), [&](std::size_t k) {
    Holder& client = clients_[k];
    bool stopped = client.stopped;
    snapshot(client.spending, client.paid, client.feed, stopped);
    client.stopped = stopped;
  });
}

}  // namespace starling
