/// The privacy accounts of a rank's clients, which every release must ask beforehand.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/snapshot.hpp"
#include "privacy/accounting/prices.hpp"
#include "privacy/accounting/spending.hpp"
#include "privacy/ledger/served_rounds.hpp"

namespace starling {

class Ledger;
class Protection;
struct Reservation;
enum class LedgerEnd;

/// A limit on the privacy loss by a client's releases.
struct Budget {
  double epsilon = 0;
  bool of_client = true;        ///< loss of all records of a client together; else of its worst record
  std::optional<double> delta;  ///< at which losses are composed; else the usual one of the mechanism
  [[nodiscard]] auto operator<=>(const Budget&) const = default;
};

/// The sizes of reserved blocks. After a crash, small blocks waste fewer rounds; large blocks need fewer fsyncs.
/// Blocks end at the same rounds wherever they begin: clients who were apart when a run was taken up, since some had
/// sat out its last rounds, share rows from the next such round on.
class BlockSizes {
 public:
  /// 1, 2, 4, … up to `most` rounds: a crash costs at most as many rounds as were released, and one. Blocks end where
  /// 1, 3, 7, …, 2^j - 1 rounds are reserved; from `most` on, where one less than a multiple of `most` is.
  [[nodiscard]] static BlockSizes doubling(Round most = 4096) { return {most, true}; }
  /// Blocks end where a multiple of `size` is reserved.
  [[nodiscard]] static BlockSizes fixed(Round size) { return {size, false}; }
  /// The speed of rounds. Blocks that are used up in no time may go on doubling, up to 2^20 rounds, since a crash
  /// still costs no more than was released, and writing a row takes as long as many thousand quick rounds.
  enum class Pace { ordinary, quick };
  /// Rounds of the block that follows `reserved` rounds (0 or more): those up to the next round where blocks end.
  [[nodiscard]] Round after(Round reserved, Pace pace = Pace::ordinary) const;

 private:
  static constexpr Round most_quick = Round{1} << 20;
  BlockSizes(Round most, bool doubling);
  Round most_;
  bool doubling_;
};

/// The accounts of a rank's clients. A client takes 72 bytes while its price does not change; the terms that clients
/// share are stored once.
class Accounts {
 public:
  /// Clients first, first + 1, … one for each entry of `served`. Keeps a reference to the mechanism.
  Accounts(const Protection& mechanism, Prices prices, Round rounds, Client first, std::vector<ServedRounds> served);

  /// Releases are reserved in ledgers ahead of the rounds: one for each client, or the same one several times, or one
  /// for all. They have begun (or taken up) the run and outlive this.
  void keep_in(std::vector<Ledger*> ledgers, const BlockSizes& blocks);
  /// Enters into the ledgers that clients whose streams begin later make no release before. They pay nothing for these
  /// rounds.
  void skip_to_begin();
  /// One release per client, or none, before the first round, which stands in the ledgers already: losses of this run
  /// count it.
  void count_before(const std::vector<std::optional<SingleRelease>>& releases);
  /// One budget per client. Needs a ledger, in which losses are looked up.
  void limit(const std::vector<Budget>& budgets);

  /// Whether no client has anything to release (such as a fusion centre whose labels everybody knows).
  [[nodiscard]] bool idle() const;
  /// Whether any client with something to release may release in round 0. Reserves that round, unless the first release
  /// is to do so. True without a budget, unless idle.
  [[nodiscard]] bool open(bool reserves = true);
  /// The price of client first + k's release in round t, which is then taken as made and stands in the ledger already;
  /// nothing if it is beyond the client's budget: then and from then on. Rounds ascend. Rounds that the client sat out
  /// count as the ledger charges them. Throws FailureError if the ledger cannot be written.
  [[nodiscard]] std::optional<double> pay(std::size_t k, Round t) {
    Holder& client = clients_[k];
    if (t >= client.reserved && !reach(k, t)) return std::nullopt;
    if (t > client.paid && !ledgers_.empty()) pay_reserved(k, t);
    const Terms& terms = terms_[client.terms];
    const double price = terms.price ? *terms.price : price_of(k, t);
    client.spending.add(price,
                        terms.served.of_pass ? pass(*terms.served.of_pass, t - terms.served.begin) : client.feed);
    client.paid = t + 1;
    return price;
  }

  /// The round after which no client here releases anything, as streams and budgets are now; 0 if nobody ever does.
  [[nodiscard]] Round will_end_after() const;
  /// Clients share noise in pairs, which cancels while all of them release: those whose streams or budgets have ended
  /// go on with zeros until this round, when the last client of the run ends.
  void release_zeros_until(Round end) { end_of_zeros_ = end; }
  /// The price at which client first + k releases zeros in round t, which cost nothing; none where it need not.
  [[nodiscard]] std::optional<double> price_of_zeros(std::size_t k, Round t) const {
    if (t >= end_of_zeros_ || is_lost(clients_[k])) return std::nullopt;
    return price_of(k, t);
  }

  /// The spending of client first + k.
  [[nodiscard]] Client number(std::size_t k) const { return first_ + static_cast<Client>(k); }
  [[nodiscard]] const Spending& spending(std::size_t k) const { return clients_[k].spending; }
  /// Losses by the releases of this run, of client first + k.
  [[nodiscard]] ClientLosses losses(std::size_t k, std::optional<double> delta) const;
  /// Each figure for the client with the largest.
  [[nodiscard]] ClientLosses worst_losses(std::optional<double> delta) const;
  /// The number of clients that a budget stopped.
  [[nodiscard]] std::int64_t stopped() const;
  /// The releases after which a budget stopped the first client; nothing where it stopped none.
  [[nodiscard]] std::optional<Round> stopped_after() const;
  /// Releases after which the first client will have spent its budget, as prices and ledgers are now; nothing where all
  /// come to their ends. Only the first few clients with different histories are examined, since each takes some time.
  [[nodiscard]] std::optional<Round> will_stop_after() const;
  /// Enters into the ledger how far the clients came, `reason` being finished or stopped. Rounds that were reserved and
  /// not released are given back, and rounds that an earlier process of this run may have released are counted.
  void close(LedgerEnd reason);
  /// The first round that stands in no client's ledger, which each client has.
  [[nodiscard]] Round reserved_through() const;
  /// Rounds before `end`, which is no less than reserved_through(), are not played: those that stand in a ledger count
  /// as paid, for an earlier process may have released them, and the others cost nothing. What comes through a pipe
  /// afterwards counts as another pass, unless the records are the `same`: it may have come before. Returns the most
  /// releases of a client that count so.
  std::int64_t leave_out_releases(Round end, bool same = false);
  /// The payments so far. Reserved rounds stand in the ledgers, and may be more.
  void persist(Snapshot& snapshot);

 private:
  /// Terms that many clients share.
  struct Terms {
    ServedRounds served;
    std::optional<Budget> budget;
    std::optional<SingleRelease> before;  ///< its first round
    std::optional<double> price;          ///< of every release, where all are alike
    [[nodiscard]] auto operator<=>(const Terms&) const = default;
  };
  struct Holder {
    Spending spending;
    Round reserved = std::numeric_limits<Round>::max();  ///< rounds below are in the ledger, if there is one
    Round paid = 0;                                      ///< rounds below have been asked for
    std::int32_t feed = 0;                               ///< how often a stream without passes was opened anew
    std::uint32_t terms : 31 {};                         ///< which
    bool stopped : 1 {};
  };
  [[nodiscard]] const Terms& terms_of(const Holder& client) const { return terms_[client.terms]; }
  [[nodiscard]] bool is_lost(const Holder& client) const { return terms_of(client).served.lost; }
  template <class TermsOf>
  void share_terms(const TermsOf& terms_of_client);
  [[nodiscard]] Ledger& ledger_of(std::size_t k) const { return *ledgers_[ledgers_.size() == 1 ? 0 : k]; }
  [[nodiscard]] bool reach(std::size_t k, Round t);
  [[nodiscard]] static std::int64_t pass(Round of_pass, Round t) {
    return t < of_pass ? 0 : t / std::max<Round>(of_pass, 1);
  }
  [[nodiscard]] std::int64_t pass(const Holder& client, Round t) const {
    const ServedRounds& served = terms_of(client).served;
    return served.of_pass ? pass(*served.of_pass, t - served.begin) : client.feed;
  }
  [[nodiscard]] double price_of(std::size_t k, Round t) const;
  [[nodiscard]] Round alike(const Holder& client, Round t, Round last) const;
  [[nodiscard]] bool reserves_like_previous(std::size_t k) const;
  /// Rounds that the client can have at most.
  [[nodiscard]] Round end_of(const Holder& client) const;
  void reserve(Round t);
  double pay_reserved(std::size_t k, Round end);
  [[nodiscard]] std::int64_t pay_lost(std::size_t k, bool same);
  [[nodiscard]] Reservation block(std::size_t k, Round last) const;
  [[nodiscard]] bool affordable(std::size_t k, const Reservation& block) const;
  [[nodiscard]] Round affordable_rounds(std::size_t k, Round size) const;
  [[nodiscard]] std::optional<Reservation> affordable_block(std::size_t k) const;

  const Protection& mechanism_;
  Prices prices_;
  Round rounds_;
  Round end_of_zeros_ = 0;
  Client first_;
  std::vector<Holder> clients_;
  std::vector<Terms> terms_;
  std::vector<Ledger*> ledgers_;  // by client, or one for all; empty without
  BlockSizes blocks_ = BlockSizes::doubling();
  BlockSizes::Pace pace_ = BlockSizes::Pace::ordinary;
  std::chrono::steady_clock::time_point reserved_at_;
};

}  // namespace starling
