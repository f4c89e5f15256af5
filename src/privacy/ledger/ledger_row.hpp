/// Rows of a ledger as text (docs/reference/ledger.md).
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

#include "privacy/ledger/ledger_book.hpp"
#include "privacy/ledger/ledger_reading.hpp"

namespace starling {

/// The end of a chain of rows, as the head file states it.
struct LedgerHead {
  std::int64_t rows = 0;
  std::string hash = std::string(64, '0');
};

/// The format that is read and written.
constexpr int ledger_format = 2;

/// The first row.
struct StartRow {
  std::string time;
};
struct OpenRow {
  LedgerRun run;
  std::string time;
};
struct ReserveRow {
  std::string run;
  Reservation reservation;
};
struct ResumeRow {
  std::string run;
  std::string time;
  std::string determined_by;
};
struct EndRow {
  std::string run;
  ClientRange clients;
  std::string time;
  Round rounds = 0;
  LedgerEnd reason = LedgerEnd::finished;
};
using LedgerRow = std::variant<StartRow, OpenRow, ReserveRow, ResumeRow, EndRow>;

/// The row as the line that follows `before`, with its line end; `before` becomes the head after it.
[[nodiscard]] std::string write_row(const LedgerRow& row, LedgerHead& before);

/// The reason why a line is not the row that should follow.
struct BadRow : std::runtime_error {
  BadRow(LedgerDamage::Kind damage, const std::string& reason) : std::runtime_error(reason), kind(damage) {}
  LedgerDamage::Kind kind;
};
/// The row in a line (without its end) that follows `before`, which becomes the head after it. Throws BadRow.
[[nodiscard]] LedgerRow read_row(std::string_view line, LedgerHead& before);

[[nodiscard]] std::string write_head(const LedgerHead& head);
/// Head in a text; none for a text that write_head cannot have written.
[[nodiscard]] std::optional<LedgerHead> read_head(const std::string& text);

}  // namespace starling
