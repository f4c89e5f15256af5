/// Rules of the ledger: the permitted order of rows, and the effect of each row.
#pragma once

#include "ledger_row.hpp"

namespace starling {

/// The check of a row and its step are separate, so that a row can be written between them.
struct LedgerRules {
  /// Throws UsageError if the row's values are not permitted or contradict earlier rows.
  static void require(const LedgerBook& book, const LedgerRow& row);
  /// Applies the row. Relies on `require`.
  static void apply(LedgerBook& book, const LedgerRow& row);

 private:
  static void require_row(const LedgerBook& book, const StartRow& row);
  static void require_row(const LedgerBook& book, const OpenRow& row);
  static void require_row(const LedgerBook& book, const ReserveRow& row);
  static void require_row(const LedgerBook& book, const ResumeRow& row);
  static void require_row(const LedgerBook& book, const EndRow& row);
  static LedgerEntry& at_hand(LedgerBook& book);
  static void apply_row(LedgerBook& book, const StartRow& row);
  static void apply_row(LedgerBook& book, const OpenRow& row);
  static void apply_row(LedgerBook& book, const ReserveRow& row);
  static void apply_row(LedgerBook& book, const ResumeRow& row);
  static void apply_row(LedgerBook& book, const EndRow& row);
};

/// The correlation of noise that `parameters` of a run of 0.2.0 or earlier state; none if they state none. Throws
/// UsageError for a statement that is none.
[[nodiscard]] std::optional<NoiseCorrelation> stated_correlation(const std::string& parameters);

}  // namespace starling
