// Rows about ranges of clients mean the same as rows of each client: random histories, written in both ways and read by
// a plain reader that expands ranges.
#include <random>
#include <set>

#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "ledger_samples.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/ledger/ledger.hpp"
#include "privacy/ledger/ledger_reading.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/statement/statement.hpp"
#include "support/testing.hpp"

namespace starling::ledger_ranges_test {

using ledger_samples::block_of;
using ledger_samples::run_of;
using namespace testing_support;
using Groups = std::vector<ChargeGroup>;
using Json = nlohmann::json;
using Random = std::mt19937_64;

int draw(Random& random, int least, int most) {
  return std::uniform_int_distribution<int>(least, most)(random);
}

/// A reader as plain as can be, which takes it that rows are right: every client has all that is its own.
class PlainBook {
 public:
  struct Part {
    std::vector<Json> blocks;
    Round charged = 0;
    Round taken_up = 0;
    Round reserved = 0;
    std::string end;
  };
  struct Run {
    Json open;
    std::map<Client, Part> parts;
  };

  explicit PlainBook(const std::string& path) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line); ++rows) take(Json::parse(line));
  }

  [[nodiscard]] Groups spent(Client client) const {
    return sum(client, [](const Json& run, const Charge& charge) {
      return of_group(charge, units(run)).value_or(Charge::unbounded());
    });
  }
  [[nodiscard]] Groups spent_by_client(Client client) const {
    return sum(client, [](const Json& run, const Charge& charge) {
      return of_group(charge, run["batch_units"]).value_or(Charge::unbounded());
    });
  }
  /// Of charges of one kind.
  [[nodiscard]] Groups spent_by_one(Client client, bool component) const {
    Groups groups;
    for (const auto& [id, run] : runs) {
      if (run.parts.count(client) == 0) continue;
      std::map<std::int64_t, Charge> largest;
      for (const Json& block : run.parts.at(client).blocks) {
        for (const Json& pass : block["passes"]) {
          const Charge charge = charge_of(pass);
          Charge& most = largest.emplace(pass["pass"], charge).first->second;
          if (charge.epsilon + charge.mu > most.epsilon + most.mu) most = charge;
        }
      }
      const bool group = !component && run.open["unit"] == "component";
      for (const auto& [pass, charge] : largest) add(groups, group ? *of_group(charge, units(run.open)) : charge, 1);
    }
    return groups;
  }

  std::vector<std::pair<std::string, Run>> runs;
  int rows = 0;

 private:
  static Charge charge_of(const Json& json) {
    if (json["kind"] == "laplace") return Charge::laplace(json["epsilon"]);
    return Charge::gaussian(json["mu"]);
  }
  /// That a record is, of what the run's charges count.
  static double units(const Json& run) {
    return std::max(1.0, run["batch_units"].get<double>() / run["batch"].get<double>());
  }
  static void add(Groups& groups, const Charge& charge, std::int64_t count) {
    for (ChargeGroup& group : groups) {
      if (group.charge == charge) {
        group.count += count;
        return;
      }
    }
    groups.push_back({charge, count});
  }
  template <class Convert>
  [[nodiscard]] Groups sum(Client client, const Convert& convert) const {
    Groups groups;
    for (const auto& [id, run] : runs) {
      if (run.parts.count(client) == 0) continue;
      for (const Json& block : run.parts.at(client).blocks) {
        for (const Json& group : block["charges"]) add(groups, convert(run.open, charge_of(group)), group["count"]);
      }
    }
    return groups;
  }

  Run& run_of(const Json& row) {
    for (auto& [id, run] : runs) {
      if (id == row["run"]) return run;
    }
    throw std::runtime_error("no such run");
  }

  void take(const Json& row) {
    if (row["kind"] == "open") {
      Run run;
      run.open = row;
      for (const Json& item : row["clients"]) {
        const Client first = item.is_array() ? item[0] : item;
        const Client through = item.is_array() ? item[1] : item;
        for (Client u = first; u <= through; ++u) run.parts[u];
      }
      runs.emplace_back(row["run"], std::move(run));
    } else if (row["kind"] == "resume") {
      for (auto& [client, part] : run_of(row).parts) {
        part.taken_up = part.charged;
        part.end.clear();
      }
    } else if (row["kind"] != "ledger") {
      const Client first = row["client"];
      for (Client u = first; u <= row.value("through", first); ++u) take_part(run_of(row).parts.at(u), row);
    }
  }

  static void take_part(Part& part, const Json& row) {
    if (row["kind"] == "reserve") {
      part.blocks.push_back(row);
      part.charged = row["last"].get<Round>() + 1;
      part.reserved = std::max(part.reserved, part.charged);
      return;
    }
    part.end = row["reason"];
    part.charged = std::max(row["rounds"].get<Round>(), part.taken_up);
    while (!part.blocks.empty() && part.blocks.back()["first"] >= part.charged) part.blocks.pop_back();
    if (part.blocks.empty() || part.blocks.back()["last"] < part.charged) return;
    Json& last = part.blocks.back();
    std::int64_t releases = 0;
    for (const Json& group : last["charges"]) releases += group["count"].get<std::int64_t>();
    const bool one_a_round = releases == last["last"].get<Round>() - last["first"].get<Round>() + 1;
    last["last"] = part.charged - 1;
    if (!one_a_round) return;
    std::int64_t left = part.charged - last["first"].get<Round>();
    Json charges = Json::array();
    for (Json group : last["charges"]) {
      group["count"] = std::min(left, group["count"].get<std::int64_t>());
      left -= group["count"].get<std::int64_t>();
      if (group["count"] > 0) charges.push_back(group);
    }
    last["charges"] = charges;
  }
};

void expect_equal_parts(const LedgerEntry& entry, const PlainBook::Run& run) {
  std::set<Client> clients;
  for (const auto& [first, account] : entry.accounts) {
    ASSERT_LT(account.clients.count(), 1000);
    for (Client u = first; u <= account.clients.through; ++u) clients.insert(u);
  }
  ASSERT_EQ(clients.size(), run.parts.size());
  for (const auto& [u, part] : run.parts) {
    const LedgerAccount& account = entry.account(u);
    EXPECT_EQ(account.charged, part.charged) << u;
    EXPECT_EQ(account.taken_up, part.taken_up) << u;
    EXPECT_EQ(account.reserved, part.reserved) << u;
    EXPECT_EQ(account.end ? name_of(*account.end) : "", part.end) << u;
    const auto blocks = account.blocks.in_order();
    ASSERT_EQ(blocks.size(), part.blocks.size()) << u;
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      EXPECT_EQ(blocks[k]->first, part.blocks[k]["first"]);
      EXPECT_EQ(blocks[k]->last, part.blocks[k]["last"]);
      EXPECT_EQ(blocks[k]->records, part.blocks[k]["records"]);
    }
  }
}

void expect_equal(const LedgerBook& book, const PlainBook& plain, Client clients) {
  ASSERT_EQ(book.entries().size(), plain.runs.size());
  for (std::size_t k = 0; k < plain.runs.size(); ++k) {
    ASSERT_EQ(book.entries()[k].run.id, plain.runs[k].first);
    expect_equal_parts(book.entries()[k], plain.runs[k].second);
  }
  for (Client u = 0; u < clients; ++u) {
    EXPECT_EQ(book.spent(u, LossLevel::component), plain.spent_by_one(u, true)) << u;
    EXPECT_EQ(book.spent(u, LossLevel::record), plain.spent_by_one(u, false)) << u;
    EXPECT_EQ(book.spent(u, LossLevel::record_in_each_batch), plain.spent(u)) << u;
    EXPECT_EQ(book.spent(u, LossLevel::client), plain.spent_by_client(u)) << u;
  }
}

/// Neighbours have one account exactly where they have the same history.
void expect_whole_cohorts(const LedgerBook& book) {
  for (const LedgerEntry& entry : book.entries()) {
    const LedgerAccount* before = nullptr;
    for (const auto& [first, account] : entry.accounts) {
      if (before != nullptr && before->clients.touches(account.clients)) {
        EXPECT_FALSE(before->says_the_same(account)) << first;
      }
      before = &account;
    }
  }
}

/// A ledger with rows about ranges, and one with the same history in rows about single clients.
class LedgerRanges : public ::testing::Test {
 protected:
  /// Both books say what the rows of both say, as they are kept and as they are read.
  void expect_equal_ledgers(Client clients) {
    const PlainBook plain(singly_);
    const LedgerReading singly = read_ledger(singly_);
    const LedgerReading together = read_ledger(together_);
    ASSERT_FALSE(singly.damage) << singly.damage->reason;
    ASSERT_FALSE(together.damage) << together.damage->reason;
    expect_equal(singly.book, plain, clients);
    expect_equal(together.book, plain, clients);
    expect_equal(together.book, PlainBook(together_), clients);
    EXPECT_EQ(singly.book.cohorts(), together.book.cohorts());
    expect_whole_cohorts(together.book);
    EXPECT_LE(together.hashes.size(), singly.hashes.size());
  }

  TemporaryFolder folder_{folder_in_memory()};
  std::string together_ = folder_ / "together";
  std::string singly_ = folder_ / "singly";
};

/// Rows as the rules allow them, drawn at random, of random ranges.
class RandomRows {
 public:
  RandomRows(std::uint64_t seed, Client clients) : random_(seed), clients_(clients) {}

  void write(Ledger& ledger, Ledger& twin) {
    const LedgerEntry* entry = ledger.book().at_hand();
    const int what = entry == nullptr ? 0 : draw(random_, 0, 19);
    if (what == 0) {
      LedgerRun run = run_of(fmt::format("run-{}", ledger.book().entries().size()));
      run.unit = draw(random_, 0, 3) == 0 ? PrivacyUnit::component : PrivacyUnit::record;
      run.batch_units = draw(random_, 1, 4);
      run.clients = some_clients();
      both(ledger, twin, [&](Ledger& each) { each.begin(run); });
    } else if (what <= 2) {
      const auto& entries = ledger.book().entries();
      const auto k = static_cast<std::size_t>(draw(random_, 0, static_cast<int>(entries.size()) - 1));
      const std::string run = entries[k].run.id;
      both(ledger, twin, [&](Ledger& each) { each.resume(run, "abc123"); });
    } else if (what <= 5) {
      const std::vector<LedgerEnding> endings = some_endings(*entry);
      ledger.end(endings);
      twin.end(singly(endings));
    } else {
      const std::vector<Reservation> blocks = some_blocks(*entry);
      ledger.reserve(blocks);
      twin.reserve(singly(blocks));
    }
  }

 private:
  template <class Action>
  static void both(Ledger& ledger, Ledger& twin, const Action& action) {
    action(ledger);
    action(twin);
  }
  /// The items with one client each.
  template <class T>
  static std::vector<T> singly(const std::vector<T>& items) {
    std::vector<T> single;
    for (T item : items) {
      const ClientRange all = item.clients;
      for (Client client = all.first; client <= all.through; ++client) {
        item.clients = client;
        single.push_back(item);
      }
    }
    return single;
  }
  std::vector<ClientRange> some_clients() {
    std::vector<ClientRange> all;
    for (Client u = draw(random_, 0, 2); u < clients_; u += draw(random_, 1, 3)) {
      const Client through = std::min<Client>(u + draw(random_, 0, 5), clients_ - 1);
      all.emplace_back(u, through);
      u = through;
    }
    return all;
  }
  /// Ranges of clients that have not ended and may have the same row; most of them.
  std::vector<ClientRange> some_of(const LedgerEntry& entry) {
    std::vector<ClientRange> ranges;
    std::optional<Round> charged;
    for (Client u = 0; u < clients_; ++u) {
      const LedgerAccount* account = entry.find(u);
      if (account == nullptr || account->end || draw(random_, 0, 6) == 0) {
        charged.reset();
      } else if (charged == account->charged && draw(random_, 0, 9) > 0) {
        ranges.back().through = u;
      } else {
        charged = account->charged;
        ranges.emplace_back(u);
      }
    }
    return ranges;
  }
  std::vector<Reservation> some_blocks(const LedgerEntry& entry) {
    std::vector<Reservation> blocks;
    for (const ClientRange& clients : some_of(entry)) {
      const Round first = entry.account(clients.first).charged;
      const Round rounds = draw(random_, 1, 3);
      const Charge charge = Charge::laplace(draw(random_, 0, 4) == 0 ? 0.25 : 0.5);
      Reservation block = block_of(clients, first, first + rounds - 1, charge, 1 + first / 4);
      if (draw(random_, 0, 3) == 0) block.charges.push_back({Charge::laplace(0.125), 2});
      blocks.push_back(block);
    }
    return blocks;
  }
  std::vector<LedgerEnding> some_endings(const LedgerEntry& entry) {
    std::vector<LedgerEnding> endings;
    for (const ClientRange& clients : some_of(entry)) {
      const Round charged = entry.account(clients.first).charged;
      const auto reason = static_cast<LedgerEnd>(draw(random_, 0, 2));
      endings.push_back({clients, draw(random_, 0, 1) == 0 ? charged : charged / 2, reason});
    }
    return endings;
  }

  Random random_;
  Client clients_;
};

TEST_F(LedgerRanges, SayWhatRowsOfSingleClientsWould) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const TemporaryFolder folder(folder_in_memory());
    together_ = folder / "together";
    singly_ = folder / "singly";
    const Client clients = seed % 2 == 0 ? 5 : 23;
    RandomRows rows(seed, clients);
    for (int life = 0; life < 3; ++life) {
      Ledger together = Ledger::open(together_);
      Ledger singly = Ledger::open(singly_);
      for (int row = 0; row < 15; ++row) rows.write(together, singly);
      expect_equal(together.book(), PlainBook(singly_), clients);
      expect_whole_cohorts(together.book());
      for (Client u = 0; u < clients; ++u) {
        if (together.book().at_hand()->find(u) == nullptr) continue;
        EXPECT_EQ(together.reserved_through(u), singly.reserved_through(u));
        EXPECT_EQ(together.book().spent(u, LossLevel::client), singly.book().spent(u, LossLevel::client));
      }
    }
    expect_equal_ledgers(clients);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

// What a run does: streams, prices and budgets that differ, clients who sit out, kills and signals, and all over again.

struct Lives {
  std::vector<ServedRounds> served;
  std::vector<Budget> budgets;  // none: no limits
  std::string prices;
  std::uint64_t seed = 0;
  double absent = 0;
};

constexpr Round rounds = 40;

std::unique_ptr<Mechanism> laplace() {
  const ReleaseSettings settings{.price = {0.25, 1}, .batch = 2, .dimension = 3, .run_id = "run"};
  return mechanism_table().make("laplace", settings);
}

Lives lives_of(std::uint64_t seed, std::size_t clients, const TemporaryFolder& folder) {
  Random random(seed);
  Lives lives;
  lives.seed = seed;
  lives.absent = draw(random, 0, 1) * 0.2;
  const int prices = draw(random, 0, 2);
  lives.prices = prices == 0 ? "0.5" : "schedule:from=1,to=0.25";
  if (prices == 2) {
    std::string table = "client,price\n";
    for (std::size_t k = 0; k < clients; ++k) table += fmt::format("{},{}\n", k, k % 7 < 4 ? 0.5 : 0.25);
    lives.prices = "clients:" + folder.write("prices.csv", table);
  }
  const bool budgets = draw(random, 0, 2) > 0;
  ServedRounds served;
  for (std::size_t k = 0; k < clients; ++k) {
    if (k == 0 || draw(random, 0, 3) == 0) {
      const std::int64_t of_pass = draw(random, 4, 50);
      served = {of_pass * 2, of_pass, draw(random, 0, 1) == 0 ? std::optional<Round>() : 2 * of_pass};
      if (draw(random, 0, 4) == 0) served = {};
    }
    lives.served.push_back(served);
    const double budget = draw(random, 0, 5) == 0 ? draw(random, 0, 60) : 40.0;
    if (budgets) lives.budgets.push_back({budget, true, std::nullopt});
  }
  return lives;
}

/// Plays up to `end` and dies, or ends for `reason`. What each client paid.
std::vector<double> play(const std::string& path, const Lives& lives, const std::string& determined_by, Round end,
                         std::optional<LedgerEnd> reason) {
  const std::size_t clients = lives.served.size();
  const auto mechanism = laplace();
  Ledger ledger = Ledger::open(path);
  if (const auto earlier = ledger.unfinished(determined_by)) {
    ledger.resume(*earlier, determined_by);
  } else {
    LedgerRun run = run_of(fmt::format("run-{}", ledger.book().entries().size()), determined_by);
    run.batch_units = units_of_batch(*mechanism);
    run.clients = {ClientRange(0, static_cast<Client>(clients) - 1)};
    ledger.begin(run);
  }
  Accounts accounts(*mechanism, Prices::parse(lives.prices, "price", rounds, static_cast<Client>(clients), 0, 1),
                    rounds, 0, lives.served);
  accounts.keep_in({&ledger}, BlockSizes::fixed(1 + static_cast<Round>(lives.seed % 7)));
  if (!lives.budgets.empty()) accounts.limit(lives.budgets);
  static_cast<void>(accounts.open());
  std::vector<double> paid(clients);
  Random absences(lives.seed + 1);
  for (Round t = 0; t < end; ++t) {
    for (std::size_t k = 0; k < clients; ++k) {
      const bool absent = std::uniform_real_distribution<double>()(absences) < lives.absent;
      const bool over = t >= lives.served[k].of_all.value_or(rounds);
      if (!absent && !over) paid[k] += accounts.pay(k, t).value_or(0);
    }
  }
  if (reason) accounts.close(*reason);
  for (std::size_t k = 0; k < clients; ++k) {
    double sum = 0;
    const PriceTally all = accounts.spending(k).all();
    for (const auto& [price, count] : all.counts()) sum += price * static_cast<double>(count);
    EXPECT_GE(sum, paid[k] * (1 - 1e-12));
    double charged = 0;
    for (const auto& [charge, count] : ledger.book().spent(static_cast<Client>(k), LossLevel::record_in_each_batch)) {
      charged += charge.epsilon * static_cast<double>(count);
    }
    EXPECT_GE(charged, sum * (1 - 1e-9)) << "nothing is released that does not stand in the ledger";
    double of_passes = 0;
    const PriceTally dearest = accounts.spending(k).dearest_of_passes();
    for (const auto& [price, count] : dearest.counts()) of_passes += price * static_cast<double>(count);
    double charged_to_record = 0;
    for (const auto& [charge, count] : ledger.book().spent(static_cast<Client>(k), LossLevel::record)) {
      charged_to_record += charge.epsilon * static_cast<double>(count);
    }
    EXPECT_GE(charged_to_record, of_passes * (1 - 1e-9)) << "of a record, too";
    if (!lives.budgets.empty()) {
      EXPECT_LE(charged * 2, lives.budgets[k].epsilon * (1 + 1e-9)) << "a batch has two records";
    }
  }
  return paid;
}

TEST_F(LedgerRanges, OfRandomRunsSayWhatRowsOfSingleClientsWould) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const TemporaryFolder folder(folder_in_memory());
    together_ = folder / "together";
    constexpr std::size_t clients = 17;
    const Lives lives = lives_of(seed, clients, folder);
    Random random(seed + 2);
    for (int life = 0; life < 4; ++life) {
      const Round end = life == 3 ? rounds : draw(random, 0, rounds);
      const int how = life == 3 ? 2 : draw(random, 0, 2);
      std::optional<LedgerEnd> reason;  // none: killed
      if (how == 1) reason = LedgerEnd::stopped;
      if (how == 2) reason = LedgerEnd::finished;
      static_cast<void>(play(together_, lives, "ab12", end, reason));
    }
    const LedgerReading reading = read_ledger(together_);
    ASSERT_FALSE(reading.damage) << reading.damage->reason;
    expect_equal(reading.book, PlainBook(together_), clients);
    expect_whole_cohorts(reading.book);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST_F(LedgerRanges, OfClientsInStepTakeAsManyRowsAsOfOne) {
  Lives lives;
  lives.prices = "0.5";
  lives.served.resize(1);
  lives.budgets.assign(1, {30, true, std::nullopt});
  static_cast<void>(play(singly_, lives, "", rounds, LedgerEnd::finished));
  lives.served.resize(1000);
  lives.budgets.assign(1000, {30, true, std::nullopt});
  static_cast<void>(play(together_, lives, "", rounds, LedgerEnd::finished));
  EXPECT_EQ(PlainBook(together_).rows, PlainBook(singly_).rows);
  const LedgerBook book = read_ledger(together_).book;
  EXPECT_EQ(book.cohorts(), (std::vector<ClientRange>{{0, 999}}));
  EXPECT_EQ(book.spent(567, LossLevel::record_in_each_batch),
            read_ledger(singly_).book.spent(0, LossLevel::record_in_each_batch));
}

TEST_F(LedgerRanges, StandInRowsOfTheDocumentedForm) {
  Ledger ledger = Ledger::open(together_);
  LedgerRun run = run_of("run");
  run.clients = {0, 1, 2, {5, 7}, 9};
  ledger.begin(run);
  ledger.reserve(std::vector{block_of({0, 2}, 0, 3), block_of(9, 0, 1)});
  ledger.end(std::vector<LedgerEnding>{{ClientRange(1, 2), 2, LedgerEnd::finished}});
  const std::string text = ledger_samples::text_of(together_);
  for (const char* part : {R"("clients":[[0,2],[5,7],9],"hash")", R"("client":0,"through":2,"first":0,"last":3,)",
                           R"("client":9,"first":0,"last":1,)", R"("client":1,"through":2,"time":)"}) {
    EXPECT_THAT(text, HasSubstr(part)) << part;
  }
  EXPECT_EQ(ledger.book().cohorts(), (std::vector<ClientRange>{0, {1, 2}, {5, 7}, 9}));
}

TEST_F(LedgerRanges, ThatMeetAreRefusedTogether) {
  Ledger ledger = Ledger::open(together_);
  LedgerRun run = run_of("run");
  run.clients = {ClientRange(0, 9)};
  ledger.begin(run);
  const auto refusal = [&](const std::vector<Reservation>& blocks) {
    return message_of<UsageError>([&] { ledger.reserve(blocks); });
  };
  EXPECT_THAT(refusal({block_of({0, 4}, 0, 1), block_of({4, 5}, 0, 1)}), HasSubstr("client 4 twice at once"));
  EXPECT_THAT(refusal({block_of({4, 5}, 0, 1), block_of({0, 9}, 0, 1)}), HasSubstr("client 4 twice at once"));
  EXPECT_THAT(refusal({block_of({5, 4}, 0, 1)}), HasSubstr("runs upwards"));
  EXPECT_THAT(refusal({block_of({5, 10}, 0, 1)}), HasSubstr("client 10 is none of run"));
  ledger.reserve(block_of({3, 4}, 0, 1));
  EXPECT_THAT(refusal({block_of({0, 9}, 0, 1)}), HasSubstr("round 0 of client 3 is reserved already"));
  ledger.reserve(std::vector{block_of({0, 2}, 0, 1), block_of({5, 9}, 0, 1)});
  EXPECT_EQ(ledger.book().at_hand()->accounts.size(), 1U) << "they are alike again";
  ledger.end(4, 2, LedgerEnd::finished);
  EXPECT_THAT(refusal({block_of({0, 9}, 2, 3)}), HasSubstr("client 4 has ended"));
  ledger.reserve(std::vector{block_of({0, 3}, 2, 3), block_of({5, 9}, 2, 3)});
  EXPECT_EQ(ledger.book().at_hand()->accounts.size(), 3U);
}

// Histories of a row a round, of two clients who part and meet at each: in no more than a moment, and without a stack
// as deep as they are long.
TEST(LedgerBlocksTest, MayBeLong) {
  const auto block = [](Round t) { return std::make_shared<const Reservation>(block_of(0, t, t)); };
  LedgerBlocks one;
  LedgerBlocks other;
  for (Round t = 0; t < 300000; ++t) {
    one.push(block(t));
    ASSERT_FALSE(one == other);
    other.push(block(t));
    ASSERT_TRUE(one == other);
    other = one;
  }
  EXPECT_EQ(one.in_order().size(), 300000U);
  EXPECT_EQ(one.in_order()[1234]->first, 1234);
  LedgerBlocks apart;
  apart.push(block(1));
  for (Round t = 1; t < 300000; ++t) {
    apart.push(block(t));
    ASSERT_FALSE(apart == one);
  }
  one.pop();
  EXPECT_EQ(one.last()->last, 299998);
  EXPECT_EQ(other.last()->last, 299999);
}

}  // namespace starling::ledger_ranges_test
