// `starling privacy ledger FILE`.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "console/print.hpp"
#include "core/check.hpp"
#include "files/tell_user.hpp"
#include "output/directory/private_folders.hpp"
#include "privacy/accounting/in_words.hpp"
#include "privacy/accounting/spending.hpp"
#include "privacy/ledger/ledger_reading.hpp"
#include "privacy/statement/statement.hpp"
#include "report/view/summary_view.hpp"
#include "run/settings/catalogue.hpp"

namespace starling {

namespace {

constexpr std::size_t most_lines = 20;  // about clients, that a table shows
constexpr double of_sums = 1e-12;       // what rounding adds to a sum

struct Request {
  std::string file;
  bool verify = false;
  std::string expect;
  std::optional<Client> client;
  std::optional<double> delta;
  bool json = false;
};

Options options_of(Request& request) {
  Options options("privacy ledger");
  options.group("Ledger");
  options.add(option("file", "FILE", "the ledger", {.example = "ledger", .positional = true}), request.file);
  options.add(flag("verify", "only say whether the ledger is whole"), request.verify);
  options.add(option("expect", "HASH",
                     "the ledger must hold a row with this hash: it then goes on from where the hash was noted",
                     {.example = "5f70c1"}),
              request.expect);
  options.add(option("client", "K", "say what concerns client K alone",
                     {.range = {0, std::numeric_limits<Client>::max()}, .example = "0"}),
              request.client);
  options.add(declared("delta", "delta of the losses; without it 0 where all charges are pure, 1e-5 for Gaussian ones",
                       {.range = {.most = 1}}),
              request.delta);
  options.group("Output");
  options.add(
      declared("json",
               {.help = "print one JSON object: file, rows, head, whole, damage, in_use, expected_row, runs, losses"}),
      request.json);
  options.add(declared("help"));
  return options;
}

void check_request(const Request& request) {
  check(!request.file.empty(), "`privacy ledger` lacks a file: it reads one. See starling privacy ledger --help.");
  check(!request.verify || !request.client,
        "--verify with --client {}: a ledger is whole or not, whomever it is about. Give one of them.",
        request.client.value_or(0));
  const bool digits = request.expect.find_first_not_of("0123456789abcdef") == std::string::npos;
  check(request.expect.empty() || (digits && request.expect.size() == 64),
        "--expect '{}' is no hash: it must be 64 digits 0-9a-f. Copy the head that a run printed.", request.expect);
}

/// Throws UsageError for the directory of a run, with the ledgers of its ranks, which may be on other hosts.
void refuse_directory(const std::string& file) {
  std::string ledgers;
  for (const std::string& folder : private_folders_of(file)) ledgers += fmt::format(" '{}/ledger'", folder);
  check(ledgers.empty(), "'{}' is the directory of a run: each rank has a ledger. Name one of them:{}.", file, ledgers);
}

// Findings.

struct ClientCosts {
  ClientRange clients;  ///< clients that each have these costs
  std::int64_t releases = 0;
  bool components = false;            ///< whether any release counted components
  std::optional<PrivacyLoss> person;  ///< of one person with all records; none where no release counted persons
  PrivacyLoss component;              ///< of one component of a record's gradient, had every run used the same records
  PrivacyLoss record;                 ///< of one record, had every run used the same
  PrivacyLoss one_per_batch;          ///< of a participant with one record in each batch
  PrivacyLoss client_loss;            ///< of a participant who owns all records
};

/// Whether the request includes any of these clients. Reduces `clients` to the requested ones.
bool is_asked_for(ClientRange& clients, const Request& request) {
  if (!request.client) return true;
  if (!clients.has(*request.client)) return false;
  clients = *request.client;
  return true;
}

/// Accounts of an entry. Neighbouring clients with the same figures are one account, whatever rows the figures come
/// from.
std::vector<LedgerAccount> accounts_of(const LedgerEntry& entry, const Request& request) {
  std::vector<LedgerAccount> accounts;
  for (const auto& [first, each] : entry.accounts) {
    LedgerAccount account = each;
    if (!is_asked_for(account.clients, request)) continue;
    const auto figures = [](const LedgerAccount& of) { return std::tie(of.reserved, of.charged, of.end); };
    if (!accounts.empty() && accounts.back().clients.touches(account.clients) &&
        figures(accounts.back()) == figures(account)) {
      accounts.back().clients.through = account.clients.through;
    } else {
      accounts.push_back(std::move(account));
    }
  }
  return accounts;
}

/// Composes; clients that released alike, as most do, are composed once.
class Composer {
 public:
  explicit Composer(std::optional<double> delta) : delta_(delta) {}
  const PrivacyLoss& operator()(const std::vector<ChargeGroup>& groups) {
    const auto known = std::ranges::find_if(known_, [&](const auto& entry) { return entry.first == groups; });
    if (known != known_.end()) return known->second;
    if (known_.size() >= most_known) known_.erase(known_.begin());
    return known_.emplace_back(groups, compose(groups, delta_.value_or(default_delta(groups)))).second;
  }

 private:
  static constexpr std::size_t most_known = 16;
  std::optional<double> delta_;
  std::vector<std::pair<std::vector<ChargeGroup>, PrivacyLoss>> known_;
};

/// Values, not references: a loss may be a temporary.
auto figures(const PrivacyLoss& loss) {
  return std::tuple(loss.epsilon, loss.delta, loss.mu, loss.renyi, loss.method);
}

auto figures(const ClientCosts& costs) {
  return std::tuple_cat(std::tie(costs.releases, costs.components), figures(costs.person.value_or(PrivacyLoss())),
                        figures(costs.component), figures(costs.record), figures(costs.one_per_batch),
                        figures(costs.client_loss));
}

std::vector<ClientCosts> costs_of(const LedgerBook& book, const Request& request) {
  Composer composed(request.delta);
  std::vector<ClientCosts> lines;
  for (ClientRange clients : book.cohorts()) {
    if (!is_asked_for(clients, request)) continue;
    const auto loss = [&](LossLevel level) { return composed(book.spent(clients.first, level)); };
    ClientCosts costs;
    costs.clients = clients;
    costs.components = book.has(clients.first, PrivacyUnit::component);
    const bool whole = book.has(clients.first, PrivacyUnit::record) || book.has(clients.first, PrivacyUnit::person);
    if (!costs.components && !whole) continue;
    for (const ChargeGroup& group : book.spent(clients.first, LossLevel::record_in_each_batch)) {
      costs.releases += group.count;
    }
    if (book.has(clients.first, PrivacyUnit::person)) costs.person = loss(LossLevel::person);
    costs.component = loss(LossLevel::component);
    costs.record = loss(LossLevel::record);
    costs.one_per_batch = loss(LossLevel::record_in_each_batch);
    costs.client_loss = loss(LossLevel::client);
    if (!lines.empty() && lines.back().clients.touches(clients) && figures(lines.back()) == figures(costs)) {
      lines.back().clients.through = clients.through;
    } else {
      lines.push_back(std::move(costs));
    }
  }
  return lines;
}

// Output as JSON.

Json to_json(const PrivacyLoss& loss) {
  return {{"epsilon", number_json(loss.epsilon)},
          {"delta", loss.delta},
          {"mu", number_json(loss.mu)},
          {"renyi", number_json(loss.renyi)},
          {"method", loss.method}};
}

/// Writes the clients of an object. As in a row of the ledger, `through` stands only for several clients.
Json to_json(const ClientRange& clients) {
  Json json{{"client", clients.first}};
  if (clients.through != clients.first) json["through"] = clients.through;
  return json;
}

Json to_json(const LedgerAccount& account) {
  Json json = to_json(account.clients);
  json.update({{"reserved", account.reserved},
               {"released", account.end ? Json(account.charged) : Json()},
               {"charged", account.charged},
               {"end", account.end ? Json(name_of(*account.end)) : Json()}});
  return json;
}

Json to_json(const LedgerEntry& entry, const Request& request) {
  const auto account = [](const LedgerAccount& each) { return to_json(each); };
  return {{"run", entry.run.id},
          {"began", entry.began},
          {"taken_up", entry.taken_up},
          {"finished", entry.finished()},
          {"version", entry.run.version},
          {"mechanism", entry.run.mechanism},
          {"parameters", entry.run.parameters},
          {"unit", name_of(entry.run.unit)},
          {"batch", entry.run.batch},
          {"determined_by", entry.run.determined_by},
          {"clients", json_list(accounts_of(entry, request), account)}};
}

Json to_json(const ClientCosts& costs) {
  Json json = to_json(costs.clients);
  json.update({{"releases", costs.releases},
               {"component", to_json(costs.component)},
               {"record", to_json(costs.record)},
               {"one_per_batch", to_json(costs.one_per_batch)},
               {"client_total", to_json(costs.client_loss)}});
  if (costs.person) json["person"] = to_json(*costs.person);
  return json;
}

Json to_json(const LedgerReading& reading, const Request& request) {
  Json json{
      {"file", request.file}, {"rows", reading.hashes.size()}, {"head", reading.head()}, {"whole", !reading.damage},
      {"damage", nullptr},    {"in_use", reading.in_use},      {"expected_row", nullptr}};
  if (const auto row = reading.row_of(request.expect)) json["expected_row"] = *row;
  if (reading.damage) {
    const auto& [kind, line, reason] = *reading.damage;
    json["damage"] = {{"kind", name_of(kind)}, {"line", line}, {"reason", one_line(reason)}};
  } else if (!request.verify) {
    json["runs"] = json_list(reading.book.entries(), [&](const auto& entry) { return to_json(entry, request); });
    json["losses"] = json_list(costs_of(reading.book, request), [](const auto& costs) { return to_json(costs); });
  }
  return json;
}

// Output as text.

std::string shown(const PrivacyLoss& loss) {
  std::string text = "epsilon " + upper(loss.epsilon, 4, of_sums);
  if (loss.delta > 0) text += ", delta " + upper(loss.delta, 4, of_sums);
  if (loss.mu) text += ", mu " + upper(*loss.mu, 4, of_sums);
  return text;
}

std::string shown(const LedgerAccount& account) {
  const std::string who = fmt::format("    {:<12} ", name_of(account.clients));
  if (account.end) {
    return fmt::format("{}{} of {} reserved rounds released, {}\n", who, account.charged, account.reserved,
                       name_of(*account.end));
  }
  return fmt::format("{}{} rounds reserved, not ended: all count\n", who, account.reserved);
}

template <class T>
std::string first_of(const std::vector<T>& all) {
  std::string text;
  for (std::size_t k = 0; k < std::min(all.size(), most_lines); ++k) text += shown(all[k]);
  if (all.size() > most_lines)
    text += fmt::format("    … {} more (with --json, or --client)\n", all.size() - most_lines);
  return text;
}

std::string shown(const LedgerEntry& entry, const Request& request) {
  const std::string again = entry.taken_up == 0 ? "" : fmt::format(", taken up again {}x", entry.taken_up);
  return one_line(fmt::format("  {}  {}  {}, {}{}", entry.run.id, entry.began, entry.run.mechanism,
                              entry.finished() ? "finished" : "not finished", again)) +
         "\n" +
         one_line(
             fmt::format("    unit {}, batch {}; {}", name_of(entry.run.unit), entry.run.batch, entry.run.parameters)) +
         "\n" + first_of(accounts_of(entry, request));
}

std::string shown(const ClientCosts& costs) {
  const bool several = costs.clients.count() > 1;
  std::string text =
      fmt::format("    {:<12} {} releases{}\n", name_of(costs.clients), costs.releases, several ? " each" : "");
  if (costs.components) text += fmt::format("      one component of a record: {}\n", shown(costs.component));
  if (costs.person) text += fmt::format("      one person: {}\n", shown(*costs.person));
  return text +
         fmt::format("      one record: {}\n      one record in each batch: {}\n      all records of {} client: {}\n",
                     shown(costs.record), shown(costs.one_per_batch), several ? "a" : "the", shown(costs.client_loss));
}

std::string table_of(const LedgerReading& reading, const Request& request) {
  std::string text = "Runs\n";
  for (const LedgerEntry& entry : reading.book.entries()) text += shown(entry, request);
  if (reading.book.entries().empty()) text += "  none\n";
  text += "Losses by all runs together, whatever unit each counted (of one record: had every run used the same)\n";
  return text + first_of(costs_of(reading.book, request));
}

/// Throws UsageError if no run of a whole ledger has the client that is asked for.
void check_client(const LedgerReading& reading, const Request& request) {
  if (!request.client || reading.damage || request.verify) return;
  const auto& entries = reading.book.entries();
  check(std::ranges::any_of(entries, [&](const LedgerEntry& entry) { return entry.find(*request.client) != nullptr; }),
        "--client {}: no run of {} has that client: the table without --client names those that there are.",
        *request.client, request.file);
}

/// Verdict on the ledger: whether the ledger is intact, and one line of text.
struct Verdict {
  bool good = true;
  std::string text;
};

Verdict verdict_on(const LedgerReading& reading, const Request& request) {
  if (reading.damage) {
    const auto& [kind, line, reason] = *reading.damage;
    const std::string where = line == 0 ? request.file + ".head" : fmt::format("{}, line {}", request.file, line);
    return {false, fmt::format("damaged: {}: {}: {}", where, name_of(kind), reason)};
  }
  const auto row = reading.row_of(request.expect);
  if (!request.expect.empty() && !row) {
    return {false, fmt::format("rewritten: no row of {} has hash {}: the rows that led to it are gone, or it is of "
                               "another ledger. Restore the ledger from a copy.",
                               request.file, request.expect)};
  }
  const auto rows = static_cast<std::int64_t>(reading.hashes.size());
  std::string text = fmt::format("whole: {}, {} rows, head {}", request.file, rows, reading.head());
  if (row) text += fmt::format("; the expected hash is row {}'s", *row);
  if (reading.in_use) text += "; a run is writing it";
  if (rows > reading.counted) text += fmt::format("; {} after a crash not yet in the head", rows - reading.counted);
  return {true, text};
}

Manual privacy_ledger_manual() {
  return {.usage = "FILE [--verify] [--expect HASH] [--client K] [--delta D] [--json]",
          .text =
              "Says what a privacy ledger holds: its runs, how many rounds of each client were reserved and released, "
              "and what all of them together cost. Adjacent clients with the same figures are one line: each of them "
              "has what it says. The ledger is verified first; of a damaged one no figures are given.\n"
              "\n"
              "Runs may have counted different units (--unit). A record then pays for all components of a release that "
              "counted components, and a component pays what its record pays. A person pays for all records of a "
              "client in releases that counted records. A loss without a finite bound is 'unbounded' (JSON: null).\n"
              "\n"
              "A ledger is whole if every row is what its hash says, follows the row before it, and the head file "
              "beside it (FILE.head) counts no row that is gone. Who may write both files can rewrite both: that is "
              "noticed with --expect, by whoever kept the head that a run printed at its end.\n"
              "\n"
              "Exit code: 0 whole; 1 damaged (edited, reordered, truncated, torn, inconsistent, no head, not a ledger: "
              "with line and reason), or no row has the expected hash; 2 it cannot be read.",
          .examples = {"starling privacy ledger ledger --verify"}};
}

int run_privacy_ledger(const Call& call) {
  const auto request = parsed<Request, options_of>(call.words);
  check_request(request);
  refuse_directory(request.file);
  const LedgerReading reading = read_ledger(request.file);
  check_client(reading, request);
  const Verdict verdict = verdict_on(reading, request);
  if (request.json) {
    print(to_json(reading, request).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  } else if (request.verify || verdict.good) {
    print(one_line(verdict.text) + "\n" + (request.verify ? "" : table_of(reading, request)));
  }
  const bool said = request.verify && !request.json;
  if (!verdict.good && !said) tell_user("starling: {}\n", one_line(verdict.text));
  return static_cast<int>(verdict.good ? ExitCode::done : ExitCode::refuted);
}

}  // namespace

Command privacy_ledger_command() {
  return command_of<Request, options_of>("ledger", "what was released by whom, and whether that record of it is whole",
                                         privacy_ledger_manual, run_privacy_ledger);
}

}  // namespace starling
