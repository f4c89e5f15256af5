#include "privacy/ledger/ledger.hpp"

#include <cstdint>
#include <ctime>
#include <utility>

#include <fmt/chrono.h>

#include "core/check.hpp"
#include "ledger_file.hpp"
#include "ledger_row.hpp"
#include "ledger_rules.hpp"
#include "privacy/ledger/ledger_reading.hpp"

namespace starling {

namespace {

std::string now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace

struct Ledger::State {
  explicit State(const std::string& path) : file(path) {}

  void read();
  void append(const LedgerRow& row) { append(std::vector{row}); }
  void append(const std::vector<LedgerRow>& rows);
  template <class T, class MakeRow>
  void append_by_client(std::span<const T> items, const MakeRow& row_of);
  [[nodiscard]] const LedgerEntry& at_hand() const;

  LedgerFile file;
  LedgerBook book;
  LedgerHead head;
  bool failed = false;
};

void Ledger::State::read() {
  const std::string text = file.text();
  const std::optional<std::string> counted = file.head();
  if (text.empty() && !counted) {  // the head comes first, so that a ledger without one is noticed
    file.put_head(write_head({}));
    append(StartRow{now()});
    return;
  }
  LedgerReading reading = verify_ledger(text, counted);
  const bool torn = reading.damage && reading.damage->kind == LedgerDamage::Kind::torn;
  if (reading.damage && !torn) {
    const auto& [kind, line, reason] = *reading.damage;
    throw DataError(fmt::format("privacy ledger '{}'{}: {}: {}", file.path(),
                                line == 0 ? "" : fmt::format(", line {}", line), name_of(kind), reason));
  }
  if (torn) file.cut(reading.size);
  head = {static_cast<std::int64_t>(reading.hashes.size()), reading.head()};
  book = std::move(reading.book);
  if (head.rows > reading.counted) file.put_head(write_head(head));
  if (head.rows == 0) append(StartRow{now()});
}

void Ledger::State::append(const std::vector<LedgerRow>& rows) {
  check<FailureError>(!failed,
                      "privacy ledger '{}' could not be written before: nothing can be reserved in it. Run again.",
                      file.path());
  LedgerHead next = head;
  std::string lines;
  for (const LedgerRow& row : rows) {
    LedgerRules::require(book, row);
    lines += write_row(row, next);
  }
  failed = true;
  file.append(lines);
  file.put_head(write_head(next));
  for (const LedgerRow& row : rows) LedgerRules::apply(book, row);
  head = std::move(next);
  failed = false;
}

/// Appends rows about different clients: each row can then be checked against the ledger as it stands.
template <class T, class MakeRow>
void Ledger::State::append_by_client(std::span<const T> items, const MakeRow& row_of) {
  if (items.empty()) return;
  std::vector<ClientRange> clients;
  for (const T& item : items) {
    check(item.clients.count() > 0, "clients {} through {}: a range runs upwards.", item.clients.first,
          item.clients.through);
    clients.push_back(item.clients);
  }
  std::sort(clients.begin(), clients.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t k = 1; k < clients.size(); ++k) {
    check(clients[k].first > clients[k - 1].through, "client {} twice at once: a row follows one that is written.",
          clients[k].first);
  }
  std::vector<LedgerRow> rows;
  for (const T& item : items) rows.push_back(row_of(at_hand().run.id, item));
  append(rows);
}

const LedgerEntry& Ledger::State::at_hand() const {
  check(book.at_hand() != nullptr, "no run is at hand in privacy ledger '{}': none has begun. Begin one.", file.path());
  return *book.at_hand();
}

Ledger::Ledger(std::unique_ptr<State> state) : state_(std::move(state)) {}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;

Ledger Ledger::open(const std::string& path) {
  auto state = std::make_unique<State>(path);
  state->read();
  return Ledger(std::move(state));
}

std::optional<std::string> Ledger::unfinished(const std::string& determined_by) const {
  return state_->book.unfinished(determined_by);
}

void Ledger::begin(const LedgerRun& run) {
  OpenRow row{run, now()};
  row.run.clients = united(run.clients);
  state_->append(row);
}

void Ledger::resume(const std::string& run, const std::string& determined_by) {
  check(!determined_by.empty(),
        "run '{}' would not be the same: it cannot be replayed. Begin a new run, whose releases are charged anew.",
        run);
  state_->append(ResumeRow{run, now(), determined_by});
}

void Ledger::go_on(const std::string& run) {
  state_->append(ResumeRow{run, now(), ""});
}

Round Ledger::reserved_through(Client client) const {
  return state_->at_hand().account(client).charged;
}

void Ledger::reserve(std::span<const Reservation> blocks) {
  state_->append_by_client(blocks, [](const std::string& run, const Reservation& block) {
    return ReserveRow{run, block};
  });
}

void Ledger::end(std::span<const LedgerEnding> endings) {
  state_->append_by_client(endings, [](const std::string& run, const LedgerEnding& ending) {
    return EndRow{run, ending.clients, now(), ending.released, ending.reason};
  });
}

const LedgerBook& Ledger::book() const {
  return state_->book;
}

std::string Ledger::head() const {
  return state_->head.hash;
}

const std::string& Ledger::path() const {
  return state_->file.path();
}

}  // namespace starling
