// Privacy ledgers. The first byte chooses how the rest is taken: 0 as a ledger without a head, 1 as a ledger and, after
// a line "---", its head; 2 as the rows' own members, a row a line, which are chained and sealed here, for the hashes
// are what a search of bytes cannot find; 3 the same with a torn line at the end; 4 the same after two bytes, which
// choose a bit of the head that is turned.
#include "privacy/ledger/ledger.hpp"

#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "privacy/ledger/ledger_reading.hpp"
#include "target.hpp"

namespace {

using namespace starling;

struct Files {
  std::string text;
  std::optional<std::string> head;
};

Files sealed(std::string_view members) {
  Files files;
  std::string previous(64, '0');
  std::int64_t number = 0;
  while (!members.empty()) {
    const std::size_t end = members.find('\n');
    const std::string row =
        fmt::format("{{\"row\":{},\"previous\":\"{}\",{}", ++number, previous, members.substr(0, end));
    previous = sha256(previous + row + "}");
    files.text += fmt::format("{},\"hash\":\"{}\"}}\n", row, previous);
    members.remove_prefix(end == std::string_view::npos ? members.size() : end + 1);
  }
  files.head = fmt::format("{{\"rows\":{},\"hash\":\"{}\"}}\n", number, previous);
  return files;
}

Files files_of(std::string_view bytes) {
  constexpr std::string_view separator = "\n---\n";
  const std::size_t choice = fuzz::choose(bytes, 5);
  if (choice >= 2) {
    Files files = sealed(bytes);
    if (choice == 3) files.text += files.text.substr(0, 50);
    return files;
  }
  const std::size_t at = choice == 1 ? bytes.find(separator) : std::string_view::npos;
  if (at == std::string_view::npos) return {std::string(bytes), std::nullopt};
  return {std::string(bytes.substr(0, at + 1)), std::string(bytes.substr(at + separator.size()))};
}

void require_sound(const LedgerEntry& entry) {
  std::int64_t clients = 0;
  for (const ClientRange& range : entry.run.clients) clients += range.count();
  const LedgerAccount* before = nullptr;
  for (const auto& [client, account] : entry.accounts) {
    fuzz::require(client == account.clients.first && account.clients.count() > 0, "accounts by their first clients");
    fuzz::require(before == nullptr || before->clients.through < client, "accounts that do not overlap");
    fuzz::require(before == nullptr || !before->clients.touches(account.clients) || !before->says_the_same(account),
                  "one account of neighbours who are alike");
    fuzz::require(&entry.account(account.clients.through) == &account, "accounts that are found");
    before = &account;
    clients -= account.clients.count();
    Round next = 0;
    for (const Reservation* block : account.blocks.in_order()) {
      fuzz::require(block->first == next && block->last >= block->first, "blocks that follow one another");
      next = block->last + 1;
    }
    fuzz::require(next == account.charged && next <= account.reserved, "blocks of the rounds that are charged");
    fuzz::require(account.taken_up <= account.charged, "nothing given back that may have been released");
  }
  fuzz::require(clients == 0, "an account of every client");
}

void require_sound(const LedgerBook& book) {
  for (const LedgerEntry& entry : book.entries()) require_sound(entry);
  std::int64_t last = -1;
  for (const ClientRange& clients : book.cohorts()) {
    fuzz::require(clients.first > last && clients.count() > 0, "cohorts that ascend");
    fuzz::require(book.alike(clients.first, clients.through), "cohorts of clients who are alike");
    last = clients.through;
    for (const LossLevel level :
         {LossLevel::component, LossLevel::record, LossLevel::record_in_each_batch, LossLevel::client}) {
      for (const ChargeGroup& group : book.spent(clients.through, level)) {
        fuzz::require(group.count > 0, "releases counted");
      }
    }
  }
}

/// A head of which a bit is turned is no head, or not that of these rows.
void require_head_counts(std::string_view bytes) {
  if (bytes.size() < 3) return;
  const std::size_t place = static_cast<unsigned char>(bytes[0]) * 256U + static_cast<unsigned char>(bytes[1]);
  const Files files = sealed(bytes.substr(2));
  if (verify_ledger(files.text, files.head).damage) return;
  std::string head = *files.head;
  const std::size_t bit = place % (8 * head.size());
  head[bit / 8] = static_cast<char>(head[bit / 8] ^ (1 << (bit % 8)));
  const LedgerReading reading = verify_ledger(files.text, head);
  fuzz::require(reading.damage.has_value(), "a damaged head was taken: " + head);
  throw DataError(fmt::format("{}: {}", name_of(reading.damage->kind), reading.damage->reason));
}

/// What is whole, or only torn, can be opened and written on.
void require_usable(const Files& files) {
  const fuzz::MemoryFile file(files.text);
  const std::string head = file.path() + ".head";
  struct Remover {
    const std::string& path;
    ~Remover() { std::filesystem::remove(path); }
  } const remover{head};
  {
    const fuzz::MemoryFile counted(*files.head);
    std::filesystem::copy_file(counted.path(), head);
  }
  const std::string id = "a-run-that-nobody-else-would-name-so";
  {
    Ledger ledger = Ledger::open(file.path());
    ledger.begin({id, "", "", "", PrivacyUnit::record, 1, 1, "", {0}});
    ledger.reserve({0, 0, 0, "", {{1, Charge::pure(1)}}, {{Charge::pure(1), 1}}, ""});
  }
  const LedgerReading reading = read_ledger(file.path());
  fuzz::require(!reading.damage && reading.book.at_hand()->run.id == id, "a ledger that goes on");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  if (std::string_view bytes = all; fuzz::choose(bytes, 5) == 4) {
    fuzz::answers([&] { require_head_counts(bytes); });
    return 0;
  }
  const Files files = files_of(all);
  bool usable = false;
  fuzz::answers([&] {
    const LedgerReading reading = verify_ledger(files.text, files.head);
    require_sound(reading.book);
    fuzz::require(reading.size <= files.text.size(), "no more rows than text");
    usable = !reading.damage || reading.damage->kind == LedgerDamage::Kind::torn;
    fuzz::require(!usable || files.head.has_value(), "nothing whole without a head");
    if (reading.damage) throw DataError(fmt::format("{}: {}", name_of(reading.damage->kind), reading.damage->reason));
  });
  if (usable) fuzz::answers([&] { require_usable(files); });
  return 0;
}
