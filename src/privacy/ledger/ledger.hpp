/// The write-ahead privacy ledger (docs/methods/privacy.md). docs/reference/ledger.md gives the format of its files,
/// the way in which rows are written, and the damage that is detected.
///
/// A row is acknowledged when the call that writes it returns. Only then may the noise of its rounds be used.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "privacy/ledger/ledger_book.hpp"

namespace starling {

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
