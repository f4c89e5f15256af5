#include "privacy/ledger/ledger_regrouping.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/check.hpp"
#include "ledger_file.hpp"
#include "ledger_row.hpp"
#include "privacy/ledger/ledger_reading.hpp"

namespace starling {

namespace {

/// The rows of a whole ledger, of which some have been taken.
struct Rows {
  std::string path;
  std::vector<LedgerRow> all = {};
  std::size_t taken = 0;
  [[nodiscard]] LedgerRow* next() { return taken < all.size() ? &all[taken] : nullptr; }
};

Rows rows_in(const std::string& path) {
  const std::string text = content_of(path).value_or("");
  const LedgerReading reading = verify_ledger(text, content_of(head_path(path)));
  const bool torn = reading.damage && reading.damage->kind == LedgerDamage::Kind::torn;
  check<DataError>(!reading.damage || torn, "privacy ledger '{}', line {}: {}", path,
                   reading.damage ? reading.damage->line : 0, reading.damage ? reading.damage->reason : "");
  Rows rows{path};
  LedgerHead chain;
  for (std::size_t at = 0; at < reading.size;) {
    const std::size_t end = text.find('\n', at);
    rows.all.push_back(read_row(std::string_view(text).substr(at, end - at), chain));
    at = end + 1;
  }
  return rows;
}

/// The clients that a row is about; null for a row about all clients of a run.
ClientRange* clients_of(LedgerRow& row) {
  if (auto* const reserve = std::get_if<ReserveRow>(&row)) return &reserve->reservation.clients;
  auto* const end = std::get_if<EndRow>(&row);
  return end == nullptr ? nullptr : &end->clients;
}

/// The run that begins or is taken up.
std::string run_of(const LedgerRow& row) {
  if (const auto* const open = std::get_if<OpenRow>(&row)) return open->run.id;
  const auto* const resume = std::get_if<ResumeRow>(&row);
  return resume == nullptr ? "" : resume->run;
}

/// The parts of ranges that are within another.
std::vector<ClientRange> within(const ClientRange& all, const std::vector<ClientRange>& ranges) {
  std::vector<ClientRange> parts;
  for (const ClientRange& range : ranges) {
    const ClientRange part(std::max(range.first, all.first), std::min(range.through, all.through));
    if (part.first <= part.through) parts.push_back(part);
  }
  return parts;
}

/// Takes the next row about all clients, which says the same in all ledgers that have it: a crash may have left it out
/// of some. The row that begins a run gets the clients of all.
std::optional<LedgerRow> take_row_of_all(std::vector<Rows>& ledgers) {
  std::optional<LedgerRow> joined;
  for (Rows& ledger : ledgers) {
    const LedgerRow* const row = ledger.next();
    if (row == nullptr) continue;
    ++ledger.taken;
    if (!joined) {
      joined = *row;
      continue;
    }
    check<DataError>(joined->index() == row->index() && run_of(*joined) == run_of(*row),
                     "privacy ledger '{}' has other runs than '{}': they are not of one run. Restore it.", ledger.path,
                     ledgers.front().path);
    auto* const open = std::get_if<OpenRow>(&*joined);
    if (open == nullptr) continue;
    const LedgerRun& more = std::get<OpenRow>(*row).run;
    check<DataError>(open->run.batch == more.batch && open->run.batch_units == more.batch_units,
                     "run '{}' charges the clients of privacy ledgers for {} and {} records: they are not of one run. "
                     "Restore them.",
                     open->run.id, open->run.batch_units, more.batch_units);
    open->run.clients.insert(open->run.clients.end(), more.clients.begin(), more.clients.end());
  }
  return joined;
}

/// Rows of ledgers, joined for some clients. Empty if no run has any of them. `head` becomes the end of the rows.
std::string join(std::vector<Rows> ledgers, const ClientRange& clients, const std::optional<JoiningClients>& joining,
                 LedgerHead& head) {
  std::string text;
  bool any = false;
  std::set<std::string> of_others;  // runs that have none of the clients
  while (true) {
    for (Rows& ledger : ledgers) {
      for (LedgerRow* row = ledger.next(); row != nullptr && clients_of(*row) != nullptr; row = ledger.next()) {
        ++ledger.taken;
        for (const ClientRange& here : within(clients, {*clients_of(*row)})) {
          *clients_of(*row) = here;
          text += write_row(*row, head);
        }
      }
    }
    std::optional<LedgerRow> row = take_row_of_all(ledgers);
    if (!row) return any ? text : "";
    if (auto* const open = std::get_if<OpenRow>(&*row)) {
      if (joining && joining->run == open->run.id) open->run.clients.push_back(joining->clients);
      open->run.clients = united(within(clients, open->run.clients));
      if (open->run.clients.empty()) of_others.insert(open->run.id);
      any = any || !open->run.clients.empty();
    }
    if (!of_others.contains(run_of(*row))) text += write_row(*row, head);
  }
}

}  // namespace

void regroup_ledgers(const std::vector<std::string>& paths, const ClientRange& clients, const std::string& path,
                     const std::optional<JoiningClients>& joining) {
  std::vector<Rows> ledgers;
  for (const std::string& each : paths) ledgers.push_back(rows_in(each));
  LedgerHead head;
  const std::string text = join(std::move(ledgers), clients, joining, head);
  if (text.empty()) return;
  const std::string counted = write_head(head);
  const LedgerReading reading = verify_ledger(text, counted);
  check<DataError>(!reading.damage, "privacy ledgers '{}' to '{}' do not fit together: {}", paths.front(), paths.back(),
                   reading.damage ? reading.damage->reason : "");
  LedgerFile file(path);
  file.append(text);
  file.put_head(counted);
}

}  // namespace starling
