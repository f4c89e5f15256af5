// What a ledger charges, what its file holds, and who may write it. Damage and crashes: ledger_damage_test,
// ledger_crash_test.
#include "privacy/ledger/ledger.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <regex>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "ledger_samples.hpp"
#include "privacy/ledger/ledger_reading.hpp"
#include "support/testing.hpp"

namespace starling::ledger_test {

using ledger_samples::block_of;
using ledger_samples::run_of;
using ledger_samples::text_of;
using namespace testing_support;
using Groups = std::vector<ChargeGroup>;

const Charge laplace = Charge::laplace(0.1);

std::vector<std::string> lines_of(const std::string& path) {
  std::istringstream text(text_of(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

/// A ledger in a folder of its own, that can be closed and opened again.
class LedgerTest : public ::testing::Test {
 protected:
  Ledger open() { return Ledger::open(path_); }
  /// What a crash leaves: the ledger is closed and nothing has ended.
  void crashed_run(const LedgerRun& run, Round rounds) {
    Ledger ledger = open();
    ledger.begin(run);
    ledger.reserve(block_of(0, 0, rounds - 1));
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "ledger";
};

// The file.

TEST_F(LedgerTest, RowsAreLinesOfTheDocumentedFormAndNothingElse) {
  Ledger ledger = open();
  ledger.begin(run_of("run-1"));
  ledger.reserve(block_of(3, 0, 63));
  ledger.end(3, 50, LedgerEnd::stopped);
  ledger.resume("run-1", "abc123");
  std::string text = std::regex_replace(text_of(path_), std::regex("[0-9a-f]{64}"), "H");
  text = std::regex_replace(text, std::regex("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ"), "T");
  EXPECT_EQ(text,
            R"x({"row":1,"previous":"H","kind":"ledger","format":2,"time":"T","hash":"H"}
{"row":2,"previous":"H","kind":"open","run":"run-1","time":"T","version":"0.1.0 (test)","mechanism":"laplace","parameters":"epsilon 0.1 per release","unit":"record","batch":32,"batch_units":32.0,"determined_by":"abc123","clients":[0,3],"hash":"H"}
{"row":3,"previous":"H","kind":"reserve","run":"run-1","client":3,"first":0,"last":63,"records":"as they arrive","passes":[{"pass":1,"kind":"laplace","epsilon":0.1}],"charges":[{"kind":"laplace","epsilon":0.1,"count":64}],"digest":"keyed BLAKE2b","hash":"H"}
{"row":4,"previous":"H","kind":"end","run":"run-1","client":3,"time":"T","rounds":50,"reason":"stopped by signal","hash":"H"}
{"row":5,"previous":"H","kind":"resume","run":"run-1","time":"T","determined_by":"abc123","hash":"H"}
)x");
}

TEST_F(LedgerTest, HashesAreSha256OfThePreviousHashAndTheRowWithoutItsOwn) {
  ledger_samples::write_sample(path_);
  std::string previous(64, '0');
  const auto lines = lines_of(path_);
  for (const std::string& line : lines) {
    const std::size_t tail = std::string(",\"hash\":\"\"}").size() + 64;
    const std::string row = line.substr(0, line.size() - tail) + "}";
    const std::string hash = line.substr(line.size() - 66, 64);
    EXPECT_THAT(row, HasSubstr("\"previous\":\"" + previous + "\""));
    EXPECT_EQ(hash, sha256(previous + row));
    previous = hash;
  }
  EXPECT_EQ(text_of(path_ + ".head"), fmt::format("{{\"rows\":{},\"hash\":\"{}\"}}\n", lines.size(), previous));
  EXPECT_EQ(open().head(), previous);
}

TEST_F(LedgerTest, FilesAreTheOwnersAlone) {
  const mode_t before = umask(0);
  { Ledger ledger = open(); }
  umask(before);
  for (const std::string& name : {path_, path_ + ".head"}) {
    struct stat status {};
    ASSERT_EQ(stat(name.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U) << name;
  }
}

TEST_F(LedgerTest, TextsOfAnyKindStayOnTheirLine) {
  LedgerRun run = run_of("run");
  run.parameters = "two\nlines, \"quotes\", \\, \x01, \xc3\xa9, and \xff that is no UTF-8";
  {
    Ledger ledger = open();
    ledger.begin(run);
  }
  EXPECT_EQ(lines_of(path_).size(), 2U);
  EXPECT_EQ(open().book().entries()[0].run.parameters,
            "two\nlines, \"quotes\", \\, \x01, \xc3\xa9, and \xef\xbf\xbd that is no UTF-8");
}

TEST_F(LedgerTest, ChargesReadBackToTheLastBit) {
  std::mt19937_64 random(1);
  Reservation block = block_of(0, 0, 999);
  block.charges.clear();
  while (block.charges.size() < 1000) {
    const double any = std::abs(std::bit_cast<double>(random()));
    if (!std::isfinite(any)) continue;
    block.charges.push_back({block.charges.size() % 2 == 0 ? Charge::pure(any) : Charge::gaussian(any), 1});
  }
  for (const double value : {0.0, 0.1, 1.0 / 3, std::numeric_limits<double>::denorm_min(),
                             std::numeric_limits<double>::max(), std::numeric_limits<double>::min()}) {
    block.charges.push_back({Charge::laplace(value), 2});
  }
  block.charges.push_back({Charge::approximate(0.3, 1e-300), 3});
  block.charges.push_back({Charge::unbounded(), 4});
  block.passes = {{1, Charge::unbounded()}, {2, Charge::approximate(0.7, 1)}};
  {
    Ledger ledger = open();
    ledger.begin(run_of("run"));
    ledger.reserve(block);
  }
  EXPECT_EQ(*open().book().entries()[0].account(0).blocks.last(), block);
}

// Who may write.

TEST_F(LedgerTest, HasOneWriterAtATime) {
  const Ledger ledger = open();
  EXPECT_ERROR(UsageError, "in use", open());
  const pid_t child = fork();
  if (child == 0) {
    const bool refused = !message_of<UsageError>([&] { return open(); }).empty();
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(read_ledger(path_).in_use);
}

TEST_F(LedgerTest, IsFreeWhenItsWriterIsGone) {
  const pid_t child = fork();
  if (child == 0) {
    const Ledger ledger = open();
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(read_ledger(path_).in_use);
  EXPECT_NO_THROW({ Ledger ledger = open(); });
}

TEST_F(LedgerTest, IsTheSameUnderTheNameOfALink) {
  { Ledger ledger = open(); }
  const std::string link = folder_ / "link";
  ASSERT_EQ(symlink("ledger", link.c_str()), 0);
  Ledger::open(link).begin(run_of("run"));
  EXPECT_FALSE(read_ledger(link).damage);
  EXPECT_FALSE(read_ledger(path_).damage);
  EXPECT_EQ(read_ledger(path_).book.entries().size(), 1U);
  EXPECT_NE(access((link + ".head").c_str(), F_OK), 0);
}

TEST_F(LedgerTest, RefusesWhatIsNoFile) {
  const auto refusal = [](const std::string& path) {
    return message_of<UsageError>([&] { return Ledger::open(path); });
  };
  for (const std::string& path : {std::string("/dev/null"), std::string("/dev/full"), folder_ / "."}) {
    EXPECT_THAT(refusal(path), HasSubstr("not a plain file")) << path;
  }
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(refusal(pipe), HasSubstr("not a plain file"));
  EXPECT_THROW(static_cast<void>(Ledger::open(folder_ / "no/such/folder")), FailureError);
  EXPECT_THROW(static_cast<void>(read_ledger(folder_ / "nothing")), UsageError);
  EXPECT_THROW(static_cast<void>(read_ledger(pipe)), UsageError);
}

// The rules of replay.

TEST_F(LedgerTest, ChargesWhatWasReservedAndNeverEnded) {
  crashed_run(run_of("run"), 8);
  const Ledger ledger = open();
  EXPECT_EQ(ledger.book().spent(0, LossLevel::record_in_each_batch), (Groups{{laplace, 8}}));
  EXPECT_EQ(ledger.book().spent(3, LossLevel::record_in_each_batch), Groups());
}

TEST_F(LedgerTest, GivesBackWhatAnEndSaysWasNotReleased) {
  Ledger ledger = open();
  ledger.begin(run_of("run"));
  ledger.reserve(block_of(0, 0, 3));
  ledger.reserve(block_of(0, 4, 7));
  ledger.reserve(block_of(0, 8, 15));
  ledger.end(0, 5, LedgerEnd::stopped);
  EXPECT_EQ(ledger.book().spent(0, LossLevel::record_in_each_batch), (Groups{{laplace, 5}}));
  EXPECT_EQ(ledger.reserved_through(0), 5);
  EXPECT_EQ(ledger.book().at_hand()->account(0).reserved, 16);
}

TEST_F(LedgerTest, TakingARunUpAgainCostsOnlyFurtherRounds) {
  crashed_run(run_of("run", "ff00"), 8);
  Ledger ledger = open();
  ASSERT_EQ(ledger.unfinished("ff00"), "run");
  ledger.resume("run", "ff00");
  EXPECT_EQ(ledger.reserved_through(0), 8);
  ledger.reserve(block_of(0, 8, 9));
  EXPECT_EQ(ledger.book().spent(0, LossLevel::record_in_each_batch), (Groups{{laplace, 10}}));
  ledger.end(0, 10, LedgerEnd::finished);
  EXPECT_EQ(ledger.unfinished("ff00"), "run") << "client 3 has not finished";
  ledger.end(3, 0, LedgerEnd::finished);
  EXPECT_EQ(ledger.unfinished("ff00"), std::nullopt);
}

TEST_F(LedgerTest, WhatAKilledProcessMayHaveReleasedIsNotGivenBackByALaterOne) {
  crashed_run(run_of("run"), 8);
  Ledger ledger = open();
  ledger.resume("run", "abc123");
  ledger.reserve(block_of(0, 8, 11));
  ledger.end(0, 2, LedgerEnd::stopped);  // from the start again, and stopped early
  EXPECT_EQ(ledger.book().spent(0, LossLevel::record_in_each_batch), (Groups{{laplace, 8}}));
  ledger.resume("run", "abc123");
  EXPECT_EQ(ledger.reserved_through(0), 8);
}

TEST_F(LedgerTest, WhatDiffersOrCannotBeReplayedCountsAnew) {
  crashed_run(run_of("a", "aa"), 4);
  crashed_run(run_of("b", "bb"), 4);
  crashed_run(run_of("c", ""), 4);
  crashed_run(run_of("d", ""), 4);
  const Ledger ledger = open();
  EXPECT_EQ(ledger.book().spent(0, LossLevel::record_in_each_batch), (Groups{{laplace, 16}}));
  EXPECT_EQ(ledger.unfinished("aa"), "a");
  EXPECT_EQ(ledger.unfinished("cc"), std::nullopt);
  EXPECT_EQ(ledger.unfinished(""), std::nullopt);
}

TEST_F(LedgerTest, WhatCannotBeReplayedMayGoOnAfterWhatItReserved) {
  crashed_run(run_of("pipe", ""), 8);
  Ledger ledger = open();
  ledger.go_on("pipe");
  EXPECT_EQ(ledger.reserved_through(0), 8);
  Reservation nothing = block_of(0, 8, 15);  // another client's reserved rounds, in which this one releases nothing
  nothing.passes.clear();
  nothing.charges.clear();
  ledger.reserve(nothing);
  EXPECT_EQ(ledger.book().spent(0, LossLevel::record_in_each_batch), (Groups{{laplace, 8}}));
  ledger.reserve(block_of(0, 16, 17));
  EXPECT_EQ(ledger.book().spent(0, LossLevel::record_in_each_batch), (Groups{{laplace, 10}}));
  ledger.end(0, 0, LedgerEnd::stopped);  // nothing new was released, and what was before is not given back
  EXPECT_EQ(ledger.book().spent(0, LossLevel::record_in_each_batch), (Groups{{laplace, 8}}));
}

TEST_F(LedgerTest, WhatCanBeReplayedIsNotTakenForWhatCannot) {
  crashed_run(run_of("file", "ff00"), 8);
  Ledger ledger = open();
  EXPECT_ERROR(UsageError, "would not be the same", ledger.go_on("file"));
}

TEST_F(LedgerTest, RefusesWhatTheRulesForbidAndWritesNothing) {
  Ledger ledger = open();
  const auto refused = [&](const std::function<void()>& action) {
    const std::string before = text_of(path_);
    const std::string message = message_of<UsageError>(action);
    EXPECT_EQ(text_of(path_), before);
    return message;
  };
  const auto reserving = [&](const Reservation& block) { return refused([&] { ledger.reserve(block); }); };
  EXPECT_THAT(reserving(block_of(0, 0, 1)), HasSubstr("no run is at hand"));
  ledger.begin(run_of("run"));
  ledger.reserve(block_of(0, 0, 7));
  EXPECT_THAT(reserving(block_of(0, 0, 7)), HasSubstr("reserved already"));
  EXPECT_THAT(reserving(block_of(0, 7, 9)), HasSubstr("reserved already"));
  EXPECT_THAT(reserving(block_of(0, 9, 9)), HasSubstr("left out"));
  EXPECT_THAT(reserving(block_of(0, 8, 7)), HasSubstr("first round"));
  EXPECT_THAT(reserving(block_of(1, 0, 0)), HasSubstr("none of run"));
  EXPECT_THAT(refused([&] { ledger.end(0, 9, LedgerEnd::finished); }), HasSubstr("must be reserved"));
  EXPECT_THAT(refused([&] { ledger.begin(run_of("run")); }), HasSubstr("stands in the ledger already"));
  EXPECT_THAT(refused([&] { ledger.resume("another", "abc123"); }), HasSubstr("not in the ledger"));
  EXPECT_THAT(refused([&] { ledger.resume("run", "abc124"); }), HasSubstr("would not be the same"));
  ledger.end(0, 8, LedgerEnd::finished);
  EXPECT_THAT(reserving(block_of(0, 8, 9)), HasSubstr("has ended"));
  EXPECT_THAT(refused([&] { ledger.end(0, 8, LedgerEnd::finished); }), HasSubstr("has ended"));
  ledger.end(3, 0, LedgerEnd::finished);
  EXPECT_FALSE(ledger.unfinished("abc123"));
  ledger.begin(run_of("blind", ""));
  EXPECT_THAT(refused([&] { ledger.resume("blind", ""); }), HasSubstr("cannot be replayed"));
}

TEST_F(LedgerTest, BlocksOfSeveralClientsAreReservedTogetherOrNotAtAll) {
  Ledger ledger = open();
  ledger.begin(run_of("run"));
  ledger.reserve(std::vector{block_of(0, 0, 3), block_of(3, 0, 1)});
  EXPECT_EQ(ledger.reserved_through(0), 4);
  EXPECT_EQ(ledger.reserved_through(3), 2);
  EXPECT_EQ(lines_of(path_).size(), 4U);
  const std::string before = text_of(path_);
  EXPECT_THROW(ledger.reserve(std::vector{block_of(0, 4, 5), block_of(3, 5, 6)}), UsageError);
  EXPECT_THROW(ledger.reserve(std::vector{block_of(0, 4, 5), block_of(0, 6, 7)}), UsageError);
  ledger.reserve(std::vector<Reservation>());
  EXPECT_EQ(text_of(path_), before);
  EXPECT_EQ(ledger.reserved_through(0), 4);
}

TEST_F(LedgerTest, SeveralClientsEndTogetherOrNotAtAll) {
  Ledger ledger = open();
  ledger.begin(run_of("run"));
  ledger.reserve(std::vector{block_of(0, 0, 3), block_of(3, 0, 1)});
  using Endings = std::vector<LedgerEnding>;
  const std::string before = text_of(path_);
  EXPECT_THROW(ledger.end(Endings{{0, 2, LedgerEnd::budget}, {3, 3, LedgerEnd::finished}}), UsageError);
  EXPECT_THROW(ledger.end(Endings{{0, 2, LedgerEnd::budget}, {0, 2, LedgerEnd::budget}}), UsageError);
  ledger.end(Endings());
  EXPECT_EQ(text_of(path_), before);
  ledger.end(Endings{{0, 2, LedgerEnd::budget}, {3, 2, LedgerEnd::finished}});
  EXPECT_EQ(lines_of(path_).size(), 6U);
  EXPECT_EQ(ledger.book().at_hand()->account(0).end, LedgerEnd::budget);
  EXPECT_EQ(ledger.book().at_hand()->account(3).end, LedgerEnd::finished);
  EXPECT_EQ(ledger.book().spent(0, LossLevel::record_in_each_batch), (Groups{{laplace, 2}}));
}

TEST_F(LedgerTest, RefusesValuesThatNoRowMayHave) {
  Ledger ledger = open();
  ledger.begin(run_of("run"));
  const auto with = [](const Charge& charge) { return block_of(0, 0, 0, charge); };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  for (const Charge& charge : {Charge::pure(-1), Charge::pure(nan), Charge::laplace(infinite), Charge::gaussian(-0.5),
                               Charge::approximate(1, 1.5), Charge{ChargeKind::pure, 1, 0.1, 0},
                               Charge{ChargeKind::gaussian, 1, 0, 1}, Charge{ChargeKind::unbounded, 1, 0, 0}}) {
    EXPECT_THROW(ledger.reserve(with(charge)), UsageError) << charge.epsilon << ' ' << charge.mu;
  }
  Reservation block = block_of(0, 0, 0);
  block.charges[0].count = 0;
  EXPECT_THROW(ledger.reserve(block), UsageError);
  block.charges[0].count = 1;
  block.passes = {{2, laplace}, {1, laplace}};
  EXPECT_THROW(ledger.reserve(block), UsageError);
  block.passes.clear();
  EXPECT_ERROR(UsageError, "of no pass", ledger.reserve(block));
  LedgerRun run = run_of("two words");
  EXPECT_THROW(ledger.begin(run), UsageError);
  run = run_of("r", "not hexadecimal");
  EXPECT_THROW(ledger.begin(run), UsageError);
  run = run_of("r");
  run.clients = {3, 0};
  EXPECT_THROW(ledger.begin(run), UsageError);
  run.clients.clear();
  EXPECT_THROW(ledger.begin(run), UsageError);
  run = run_of("r");
  run.batch = 0;
  EXPECT_THROW(ledger.begin(run), UsageError);
  run.batch = 1;
  run.batch_units = 0.5;
  EXPECT_THROW(ledger.begin(run), UsageError);
}

TEST_F(LedgerTest, AWholeSampleIsWhole) {
  ledger_samples::write_sample(path_);
  const LedgerReading reading = read_ledger(path_);
  EXPECT_FALSE(reading.damage) << reading.damage->reason;
  EXPECT_EQ(reading.hashes.size(), 9U);
  EXPECT_EQ(reading.row_of(reading.hashes[4]), 5);
  EXPECT_EQ(reading.row_of(std::string(64, '0')), std::nullopt);
}

}  // namespace starling::ledger_test
