#include "privacy/ledger/ledger_reading.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/check.hpp"
#include "ledger_file.hpp"
#include "ledger_row.hpp"
#include "ledger_rules.hpp"

namespace starling {

namespace {

using Kind = LedgerDamage::Kind;

/// One pass over the lines, up to the first that is wrong.
class Verification {
 public:
  Verification(std::string_view text, const std::optional<LedgerHead>& head) : text_(text), head_(head) {}

  LedgerReading result() && {
    while (!reading_.damage && reading_.size < text_.size()) take_line();
    if (!reading_.damage) compare_with_head();
    return std::move(reading_);
  }

 private:
  void take_line() {
    const std::size_t end = text_.find('\n', reading_.size);
    const bool whole = end != std::string_view::npos;
    const std::string_view line = text_.substr(reading_.size, whole ? end - reading_.size : end);
    const bool last = !whole || end + 1 == text_.size();
    const std::int64_t number = chain_.rows + 1;
    try {
      if (!whole) throw BadRow(Kind::truncated, cut_short(number));
      take_row(line);
      reading_.size = end + 1;
    } catch (const BadRow& bad) {
      const bool never_acknowledged = head_ && number > head_->rows;
      const bool by_crash = bad.kind == Kind::truncated || bad.kind == Kind::edited;
      reading_.damage =
          last && never_acknowledged && by_crash ? torn(number) : LedgerDamage{bad.kind, number, bad.what()};
    }
  }

  void take_row(std::string_view line) {
    const LedgerRow row = read_row(line, chain_);
    if (std::holds_alternative<StartRow>(row) != reading_.hashes.empty()) {
      throw BadRow(Kind::inconsistent, "a ledger begins with the one row of kind 'ledger': this is another.");
    }
    try {
      LedgerRules::require(reading_.book, row);
    } catch (const UsageError& error) {
      throw BadRow(Kind::inconsistent, error.what());
    }
    LedgerRules::apply(reading_.book, row);
    reading_.hashes.push_back(chain_.hash);
  }

  static std::string cut_short(std::int64_t number) {
    return fmt::format("row {} has no end: the file was cut off. Restore it from a copy.", number);
  }

  static LedgerDamage torn(std::int64_t number) {
    return {Kind::torn, number,
            "the last line is torn: a crash while it was written; it was never acknowledged. The next run that uses "
            "this ledger cuts it off."};
  }

  void compare_with_head() {
    const std::int64_t rows = chain_.rows;
    if (!head_) return;
    if (rows < head_->rows) {
      reading_.damage = {
          Kind::truncated, rows + 1,
          fmt::format("the head counts {} rows, and the ledger has {}: its end was cut off. Restore it from a copy.",
                      head_->rows, rows)};
    } else if (head_->rows > 0 && reading_.hashes[static_cast<std::size_t>(head_->rows) - 1] != head_->hash) {
      reading_.damage = {
          Kind::edited, head_->rows,
          fmt::format("the head says that row {} has hash {}: the ledger says {}; one of the two was changed. Restore "
                      "both from a copy.",
                      head_->rows, head_->hash, reading_.hashes[static_cast<std::size_t>(head_->rows) - 1])};
    }
  }

  std::string_view text_;
  const std::optional<LedgerHead>& head_;
  LedgerHead chain_;
  LedgerReading reading_;
};

LedgerDamage without_head(const LedgerReading& reading, bool there) {
  std::string line = write_head({static_cast<std::int64_t>(reading.hashes.size()), reading.head()});
  line.pop_back();  // the newline
  return {
      Kind::no_head, 0,
      fmt::format(
          "the head file is {}: it lies beside the ledger, and without it a cut at the end of a row goes unnoticed. "
          "Restore it from a copy; or, if {} is what you noted as the last hash, write the line {} into it.",
          there ? "not a head" : "gone", reading.head(), line)};
}

}  // namespace

const char* name_of(LedgerDamage::Kind kind) {
  switch (kind) {
    case Kind::not_a_ledger:
      return "not a ledger";
    case Kind::edited:
      return "edited";
    case Kind::reordered:
      return "reordered";
    case Kind::truncated:
      return "truncated";
    case Kind::torn:
      return "torn";
    case Kind::inconsistent:
      return "inconsistent";
    case Kind::no_head:
      return "no head";
  }
  return "";
}

std::string LedgerReading::head() const {
  return hashes.empty() ? LedgerHead{}.hash : hashes.back();
}

std::optional<std::int64_t> LedgerReading::row_of(std::string_view hash) const {
  const auto found = std::find(hashes.begin(), hashes.end(), hash);
  if (found == hashes.end()) return std::nullopt;
  return found - hashes.begin() + 1;
}

LedgerReading verify_ledger(std::string_view text, const std::optional<std::string>& head) {
  const std::optional<LedgerHead> counted = head ? read_head(*head) : std::nullopt;
  LedgerReading reading = Verification(text, counted).result();
  reading.counted = counted ? counted->rows : 0;
  if (!counted && reading.hashes.empty()) {
    reading.damage = {Kind::not_a_ledger, 1,
                      "the file is not a privacy ledger: its first line is none of one. Name another file."};
  } else if (!counted && !reading.damage) {
    reading.damage = without_head(reading, head.has_value());
  }
  return reading;
}

LedgerReading read_ledger(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  check(!error, "cannot read privacy ledger '{}': {}. Name another file.", path, error.message());
  try {
    const bool in_use = is_held(real.string());
    const auto head = content_of(head_path(real.string()));  // before the rows: a run may be adding some
    LedgerReading reading = verify_ledger(content_of(real.string()).value_or(""), head);
    reading.in_use = in_use;
    if (in_use && reading.damage && reading.damage->kind == LedgerDamage::Kind::torn) reading.damage.reset();
    return reading;
  } catch (const FailureError& failure) {
    throw UsageError(failure.what());
  }
}

}  // namespace starling
