#include "privacy/ledger/ledger_regrouping.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/check.hpp"
#include "ledger_file.hpp"
#include "ledger_row.hpp"
#include "privacy/ledger/ledger_reading.hpp"

namespace starling {

namespace {

/// The rows of a whole ledger, one after the other.
class RowsOfLedger {
 public:
  explicit RowsOfLedger(const std::string& path) : path_(path), text_(content_of(path).value_or("")) {
    const LedgerReading reading = verify_ledger(text_, content_of(head_path(path)));
    const bool torn = reading.damage && reading.damage->kind == LedgerDamage::Kind::torn;
    check<DataError>(!reading.damage || torn, "privacy ledger '{}', line {}: {}", path,
                     reading.damage ? reading.damage->line : 0, reading.damage ? reading.damage->reason : "");
    text_.resize(reading.size);
    take();
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::optional<LedgerRow>& row() const { return row_; }
  /// Goes to the next row.
  void take() {
    row_.reset();
    if (at_ >= text_.size()) return;
    const std::size_t end = text_.find('\n', at_);
    row_ = read_row(std::string_view(text_).substr(at_, end - at_), chain_);
    at_ = end + 1;
  }

 private:
  std::string path_;
  std::string text_;
  std::size_t at_ = 0;
  LedgerHead chain_;
  std::optional<LedgerRow> row_;
};

std::optional<ClientRange> common_part(const ClientRange& one, const ClientRange& other) {
  const ClientRange both(std::max(one.first, other.first), std::min(one.through, other.through));
  return both.first <= both.through ? std::optional(both) : std::nullopt;
}

/// Rows of ledgers, joined for some clients.
class Joining {
 public:
  Joining(const std::vector<std::string>& paths, const ClientRange& clients,
          const std::optional<JoiningClients>& joining)
      : clients_(clients), joining_(joining) {
    for (const std::string& path : paths) ledgers_.emplace_back(path);
  }

  /// Whether a run has any of the clients, once there is a text.
  [[nodiscard]] bool any() const { return any_; }
  /// The text of the ledger; `head` becomes its head.
  std::string text(LedgerHead& head) {
    bool any = true;
    while (any) {
      for (RowsOfLedger& ledger : ledgers_) take_rows_of_clients(ledger);
      any = take_row_of_all();
    }
    head = head_;
    return std::move(text_);
  }

 private:
  void write(const LedgerRow& row) { text_ += write_row(row, head_); }

  /// Up to the next row that is about all clients.
  void take_rows_of_clients(RowsOfLedger& ledger) {
    for (; ledger.row(); ledger.take()) {
      LedgerRow row = *ledger.row();
      ClientRange* range = nullptr;
      if (auto* const reserve = std::get_if<ReserveRow>(&row)) range = &reserve->reservation.clients;
      if (auto* const end = std::get_if<EndRow>(&row)) range = &end->clients;
      if (range == nullptr) return;
      const auto here = common_part(*range, clients_);
      if (!here) continue;
      *range = *here;
      write(row);
    }
  }

  /// A row that says the same in all ledgers that have it. A crash may have left it out of some.
  bool take_row_of_all() {
    std::optional<LedgerRow> joined;
    for (RowsOfLedger& ledger : ledgers_) {
      if (!ledger.row()) continue;
      if (!joined) {
        joined = *ledger.row();
      } else {
        check<DataError>(joined->index() == ledger.row()->index() && run_of(*joined) == run_of(*ledger.row()),
                         "privacy ledger '{}' has other runs than '{}' (they are not of one run) restore it",
                         ledger.path(), ledgers_.front().path());
        auto* const open = std::get_if<OpenRow>(&*joined);
        if (open != nullptr) add_clients(*open, std::get<OpenRow>(*ledger.row()));
      }
      ledger.take();
    }
    if (!joined) return false;
    if (auto* const open = std::get_if<OpenRow>(&*joined)) keep_own(*open);
    if (!others_.contains(run_of(*joined))) write(*joined);
    return true;
  }

  static std::string run_of(const LedgerRow& row) {
    if (const auto* const open = std::get_if<OpenRow>(&row)) return open->run.id;
    if (const auto* const resume = std::get_if<ResumeRow>(&row)) return resume->run;
    return "";
  }

  static void add_clients(OpenRow& open, const OpenRow& more) {
    check<DataError>(open.run.batch == more.run.batch && open.run.batch_units == more.run.batch_units,
                     "run '{}' charges the clients of privacy ledgers for {} and {} records (they are not of one run) "
                     "restore them",
                     open.run.id, open.run.batch_units, more.run.batch_units);
    open.run.clients.insert(open.run.clients.end(), more.run.clients.begin(), more.run.clients.end());
  }

  void keep_own(OpenRow& open) {
    std::vector<ClientRange> own;
    for (const ClientRange& range : open.run.clients) {
      if (const auto here = common_part(range, clients_)) own.push_back(*here);
    }
    if (joining_ && joining_->run == open.run.id) {
      if (const auto here = common_part(joining_->clients, clients_)) own.push_back(*here);
    }
    if (own.empty()) {
      others_.insert(open.run.id);
    } else {
      any_ = true;
    }
    open.run.clients = united(own);
  }

  ClientRange clients_;
  const std::optional<JoiningClients>& joining_;
  bool any_ = false;              ///< some run has one of the clients
  std::set<std::string> others_;  ///< runs that have none of them
  std::vector<RowsOfLedger> ledgers_;
  LedgerHead head_;
  std::string text_;
};

}  // namespace

void regroup_ledgers(const std::vector<std::string>& paths, const ClientRange& clients, const std::string& path,
                     const std::optional<JoiningClients>& joining) {
  LedgerHead head;
  Joining rows(paths, clients, joining);
  const std::string text = rows.text(head);
  if (!rows.any()) return;
  const std::string counted = write_head(head);
  const LedgerReading reading = verify_ledger(text, counted);
  check<DataError>(!reading.damage, "privacy ledgers '{}' to '{}' do not fit together: {}", paths.front(), paths.back(),
                   reading.damage ? reading.damage->reason : "");
  LedgerFile file(path);
  file.append(text);
  file.put_head(counted);
}

}  // namespace starling
