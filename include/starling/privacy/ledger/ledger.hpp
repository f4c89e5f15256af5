/// The write-ahead privacy ledger (docs/methods/privacy.md).
///
/// A ledger is a text file with one row a line, each a JSON object. Beside it, FILE.head counts the rows:
///
///   {"row":1,"previous":"00…0","kind":"ledger","format":2,"time":"2026-01-31T12:00:00Z","hash":"5f…"}
///   {"row":2,"previous":"5f…","kind":"open","run":…,"time":…,"version":…,"mechanism":…,"parameters":…,"unit":"record",
///    "batch":32,"batch_units":32,"determined_by":"9c…","clients":[[0,49999],60000],"hash":…}
///   {…,"kind":"reserve","run":…,"client":0,"through":49999,"first":0,"last":63,"records":"0..2047 in passes 1..1",
///    "passes":[{"pass":1,"kind":"laplace","epsilon":0.1}],"charges":[{"kind":"laplace","epsilon":0.1,"count":64}],
///    "digest":…,"hash":…}
///   {…,"kind":"end","run":…,"client":0,"time":…,"rounds":50,"reason":"stopped by signal","hash":…}
///   {…,"kind":"resume","run":…,"time":…,"determined_by":"9c…","hash":…}
///
/// (here broken for reading; a row is one line, without spaces between its members, which stand in this order).
/// A row's hash is SHA-256 of the 64 digits of the previous row's hash (64 zeros before the first), followed by the row
/// without its own hash, that is by the line with `,"hash":"…"` cut out. FILE.head is {"rows":5,"hash":"…"} of the last
/// row. Charges: {"kind":"pure"|"laplace","epsilon":ε}, {"kind":"gaussian","mu":μ},
/// {"kind":"approximate","epsilon":ε,"delta":δ}, {"kind":"unbounded"}. Doubles read back as they were.
///
/// **Clients.** A row of kind `reserve` or `end` is about `client`. Where it has `through` (a larger number), the row
/// is about each client from `client` to `through`, and stands for as many rows. So adjacent clients with the same
/// releases take one row, and each is charged exactly as with a row of its own. In the list `clients` a pair stands for
/// a range. Ledgers of another format are refused.
///
/// **Writing.** A row is written and fsync'd, then the head (temporary file, fsync, rename, fsync of the folder), then
/// the call returns: that is when a row is acknowledged, and only then may the noise of its rounds be used. Rows of
/// several clients may be written together. So a crash leaves only rows of its last write that the head does not count.
/// Whole rows count, and the next run brings the head up to date. If the last is torn (its line has no end,
/// or is not a row), it was never acknowledged, for the head would count it, and nothing was released under it: the
/// next run cuts it off. A torn line that the head does count is damage, and nothing is ever cut off then.
///
/// **Detected damage.** A change of any byte; rows that were removed, swapped, put in or repeated; and, by the head, a
/// cut at the end of a row. Not detected: whoever may write the files can rewrite both of them consistently, or restore
/// earlier versions of both. Only somebody who kept the hash of a row can detect that: each run prints the head, and
/// `starling privacy ledger FILE --expect HASH` says whether the ledger still holds that row. A hash chain is no
/// signature: it does not identify the writer.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "starling/privacy/ledger/ledger_book.hpp"

namespace starling {

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

/// The end of one client's part in the current run, or of each of several clients.
struct LedgerEnding {
  ClientRange clients;
  Round released = 0;  ///< rounds below were released, or could have been
  LedgerEnd reason = LedgerEnd::finished;
  /// Whether both are equal but for their clients.
  [[nodiscard]] bool says_the_same(const LedgerEnding& other) const {
    return released == other.released && reason == other.reason;
  }
};

/// A ledger open for writing, by one process and one thread.
///
/// After a FailureError (a full disk) the object writes no more: whether the last row stands is for the next run to
/// see.
class Ledger {
 public:
  /// Creates the ledger (both files of mode 0600) or reads and verifies everything, and holds it until destroyed.
  /// Throws UsageError if another process holds it or it is not a plain file, DataError if it is damaged, with line and
  /// reason, FailureError if reading or writing fails.
  [[nodiscard]] static Ledger open(const std::string& path);
  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;
  ~Ledger();

  /// The id of a run that would make the same releases again and is not finished: taking it up costs nothing that was
  /// reserved. None for an empty `determined_by`.
  [[nodiscard]] std::optional<std::string> unfinished(const std::string& determined_by) const;

  // The following write a row and return when it is acknowledged. They throw UsageError, and write nothing, for what
  // the rules forbid.

  /// A new run. Everything that it reserves is charged, whatever earlier runs did.
  void begin(const LedgerRun& run);
  /// Takes up a run again; `determined_by` must be what it began with, and not empty.
  void resume(const std::string& run, const std::string& determined_by);
  /// Takes up a run again whose rounds cannot be repeated (`determined_by` is empty). No round that is charged may then
  /// be released once more: it would be another release, of other data, at the same address.
  void go_on(const std::string& run);
  /// Rounds of the run at hand below this are reserved: after `resume` those of earlier have the same bytes, or are not
  /// released again.
  [[nodiscard]] Round reserved_through(Client client) const;
  /// Blocks of different clients, with one wait for the disk. Each one's `first` must be reserved_through(its clients):
  /// no round is reserved twice, and none is left out.
  void reserve(std::span<const Reservation> blocks);
  void reserve(const Reservation& block) { reserve({&block, 1}); }
  /// Gives back what was reserved and not released: rounds from `released` on. Not those that were charged when the run
  /// was last taken up: an earlier process may have released them. A part of a block is given back to the client's
  /// total if the block has one release a round; what the block's passes cost a record stays.
  /// The endings of different clients, with one wait for the disk.
  void end(std::span<const LedgerEnding> endings);
  void end(Client client, Round released, LedgerEnd reason) {
    const LedgerEnding ending{client, released, reason};
    end({&ending, 1});
  }

  [[nodiscard]] const LedgerBook& book() const;

  /// The hash of the last row, by which a rewritten ledger can be detected later.
  [[nodiscard]] std::string head() const;
  [[nodiscard]] const std::string& path() const;

 private:
  struct State;
  explicit Ledger(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace starling
